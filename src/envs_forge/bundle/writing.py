"""`Bundle` → a task directory on disk, whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from envs_forge.bundle.finding import BundleError, Finding, errors_of
from envs_forge.bundle.links import MAX_NAME_BYTES, path_fault
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.tree import link_findings
from envs_forge.errors import DiskFullError, InfrastructureError, UserError

TEMPORARY_SUFFIX = ".tmp"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


def write_bundle(bundle: Bundle, parent_dir: str | Path, *, replace: bool = False, durable: bool = True) -> Path:
    """Write a bundle to `parent_dir/<bundle.id>`: into a hidden directory beside it first, then renamed.

    Args:
        bundle: What to write.
        parent_dir: Made when missing.
        replace: Put it in the place of a directory that is there; otherwise that is an error.
        durable: Wait until the disk has it, so that a power cut leaves the old or the new directory whole.

    Returns:
        The directory of the bundle.

    Raises:
        UserError: The id cannot be a directory name, a path or link would leave the bundle, or the place is taken.
        DiskFullError: No room; nothing is left behind.
    """
    _check(bundle)
    parent = Path(parent_dir)
    target = parent / bundle.id
    if not replace and os.path.lexists(target):
        raise UserError(f"{target} exists already", fix="remove it or choose another directory")
    temporary = parent / f".{bundle.id[:64]}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _write_files(bundle.files, temporary, durable)
        _move(temporary, target, replace=replace)
        if durable:
            _sync(parent)
    except OSError as error:
        raise _typed(error, target) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def _check(bundle: Bundle) -> None:
    fault = path_fault(bundle.id)
    if not fault and ("/" in bundle.id or bundle.id.startswith(".") or len(bundle.id.encode()) > MAX_NAME_BYTES):
        fault = "it is not the name of a visible directory"
    if fault:
        raise UserError(f"bundle id {bundle.id!r}: {fault}", fix="use letters, digits, '-' and '_'")
    findings = []
    parents = {path[:at] for path in bundle.files for at, sign in enumerate(path) if sign == "/"}
    for path in bundle.files:
        fault = path_fault(path) or ("it is a file and a directory at once" if path in parents else "")
        if fault:
            findings.append(Finding(code="file-name", file=repr(path), message=f"bad file name: {fault}"))
    findings += errors_of(link_findings(bundle.files))
    if findings:
        raise BundleError(bundle.id, findings)


def _write_files(files: Mapping[str, BundleFile], root: Path, durable: bool) -> None:
    root.mkdir()
    directories = {root}
    for path, file in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        directories.update(p for p in place.parents if p.is_relative_to(root))
        if file.target is not None:
            place.symlink_to(file.target)
        else:
            _write_file(place, file, durable)
    if durable:
        for directory in directories:
            _sync(directory)


def _write_file(place: Path, file: BundleFile, durable: bool) -> None:
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(file.data)
        os.fchmod(descriptor, file.mode & 0o777)
        if durable:
            stream.flush()
            os.fsync(descriptor)


def _move(temporary: Path, target: Path, *, replace: bool) -> None:
    if not replace or not os.path.lexists(target):
        temporary.rename(target)
        return
    old = temporary.with_name(f"{temporary.name[: -len(TEMPORARY_SUFFIX)]}.old{TEMPORARY_SUFFIX}")
    target.rename(old)
    try:
        temporary.rename(target)
    except OSError:
        old.rename(target)
        raise
    if old.is_dir() and not old.is_symlink():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink()


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _typed(error: OSError, target: Path) -> UserError | InfrastructureError:
    if error.errno in _NO_ROOM:
        return DiskFullError(f"no room to write {target}")
    if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
        return UserError(f"{target} exists already", fix="remove it or choose another directory")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR):
        return UserError(f"cannot write {target}: {error.strerror}", fix="choose a directory that you may write to")
    return InfrastructureError(f"cannot write {target}: {error.strerror or error}")
