"""`Bundle` → a task directory on disk, whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from envs_forge.bundle.finding import BundleError, Finding, errors_of
from envs_forge.bundle.links import path_fault
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.tree import link_findings
from envs_forge.errors import InfrastructureError, UserError
from envs_forge.files import new_directory

_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def write_bundle(bundle: Bundle, parent_dir: str | Path, *, replace: bool = False) -> Path:
    """Write a bundle to `parent_dir/<bundle.id>`; a reader sees the whole of it or nothing.

    Args:
        bundle: What to write.
        parent_dir: Made when missing.
        replace: Put it in the place of a directory that is there; otherwise that is an error.

    Returns:
        The directory of the bundle.

    Raises:
        UserError: The id cannot be a directory name, the place is taken or may not be written to.
        BundleError: A path or link would leave the bundle.
        DiskFullError: No room; nothing is left behind.
    """
    check_writable(bundle)
    target = Path(parent_dir) / bundle.id
    taken = UserError(f"{target} exists already", fix="remove it or choose another directory")
    if os.path.lexists(target) and (not replace or target.is_symlink() or not target.is_dir()):
        raise taken
    try:
        with new_directory(target, replace=replace) as root:
            _write_files(bundle.files, root)
    except OSError as error:
        if error.errno in _TAKEN:
            raise taken from error
        if error.errno in _FORBIDDEN:
            raise UserError(f"cannot write {target}: {error.strerror}", fix="choose another directory") from error
        raise InfrastructureError(f"cannot write {target}: {error.strerror or error}") from error
    return target


def check_writable(bundle: Bundle) -> None:
    """Make sure that a bundle made in memory stays inside its directory.

    Raises:
        UserError: The id cannot be the name of a directory.
        BundleError: A path or link is not sound.
    """
    fault = path_fault(bundle.id)
    if not fault and ("/" in bundle.id or bundle.id.startswith(".")):
        fault = "it is not the name of a visible directory"
    if fault:
        raise UserError(f"bundle id {bundle.id!r}: {fault}", fix="use letters, digits, '-' and '_'")
    parents = {path[:at] for path in bundle.files for at, sign in enumerate(path) if sign == "/"}
    findings = []
    for path in bundle.files:
        fault = path_fault(path) or ("it is a file and a directory at once" if path in parents else "")
        if fault:
            findings.append(Finding(code="file-name", file=repr(path), message=f"bad file name: {fault}"))
    findings += errors_of(link_findings(bundle.files))
    if findings:
        raise BundleError(bundle.id, findings)


def _write_files(files: Mapping[str, BundleFile], root: Path) -> None:
    for path, file in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.target is not None:
            continue
        with place.open("xb") as stream:
            stream.write(file.data)
            os.fchmod(stream.fileno(), file.mode & 0o777)
    for path, file in files.items():
        if file.target is not None:
            (root / path).symlink_to(file.target)
