"""A directory on disk → files in memory, without following a link or opening anything but regular files."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from envs_forge.bundle.finding import Finding, Severity
from envs_forge.bundle.links import LinkEscapesError, links_of, path_fault, resolve
from envs_forge.bundle.model import BundleFile

MiB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """What a bundle may weigh; it is held in memory as a whole."""

    files: int = 20_000
    file_bytes: int = 256 * MiB
    total_bytes: int = 512 * MiB


DEFAULT_LIMITS = SizeLimits()


@dataclass(slots=True)
class Tree:
    """The files that could be read, and what was wrong with the others."""

    files: dict[str, BundleFile] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def read_tree(root: Path, limits: SizeLimits = DEFAULT_LIMITS) -> Tree:
    """Read everything under `root`, in the order of names.

    Returns:
        Files with their permission bits and links with their targets as written. Special files, names that
        cannot be kept, links that escape and sizes beyond the limits are findings, and are left out.
    """
    tree = Tree()
    total = 0
    for entry, path in _walk(root, "", tree.findings):
        if len(tree.files) >= limits.files:
            tree.findings.append(_too_many(limits))
            break
        file = _read_entry(entry, path, limits.total_bytes - total, limits, tree.findings)
        if file is not None:
            total += len(file.data)
            tree.files[path] = file
    for finding in link_findings(tree.files):
        tree.findings.append(finding)
        if finding.severity is Severity.ERROR:
            del tree.files[finding.file]
    return tree


def link_findings(files: Mapping[str, BundleFile]) -> list[Finding]:
    """What is wrong with the links: escaping and circular ones are errors, dangling ones warnings."""
    links = links_of(files)
    known = {"", *files}
    for path in files:
        known.update(path[:at] for at, sign in enumerate(path) if sign == "/")
    return [f for path in links for f in _link_fault(path, links, known)]


def _link_fault(path: str, links: Mapping[str, str], known: set[str]) -> Iterator[Finding]:
    target = links[path]
    try:
        end = resolve(path, links)
    except LinkEscapesError:
        fix = "copy the file into the bundle or make the link relative to it; make absolute links in the Dockerfile"
        yield Finding(code="link-escapes", file=path, message=f"link to {target!r} leaves the bundle", fix=fix)
    except ValueError:
        yield Finding(
            code="link-loop", file=path, message=f"link to {target!r} goes round in a circle", fix="remove it"
        )
    else:
        if end not in known:
            message = f"link to {target!r}, which is not in the bundle"
            fix = "add the file or remove the link"
            yield Finding(code="link-dangling", severity=Severity.WARNING, file=path, message=message, fix=fix)


def _walk(directory: Path, prefix: str, findings: list[Finding]) -> Iterator[tuple[os.DirEntry[str], str]]:
    try:
        with os.scandir(directory) as scan:
            entries = sorted(scan, key=lambda e: e.name)
    except OSError as error:
        findings.append(_unreadable(prefix.rstrip("/"), error))
        return
    if not entries and prefix:
        message = "an empty directory is not kept"
        fix = "put a .gitkeep into it or make it in the Dockerfile"
        findings.append(
            Finding(code="empty-directory", severity=Severity.WARNING, file=prefix[:-1], message=message, fix=fix)
        )
    for entry in entries:
        path = prefix + entry.name
        fault = path_fault(path)
        if fault:
            shown = path.encode(errors="replace").decode()
            findings.append(Finding(code="file-name", file=shown, message=f"bad file name: {fault}", fix="rename it"))
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(directory / entry.name, path + "/", findings)
        else:
            yield entry, path


def _read_entry(
    entry: os.DirEntry[str], path: str, room: int, limits: SizeLimits, findings: list[Finding]
) -> BundleFile | None:
    try:
        info = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            # pathlib would normalise the target
            return BundleFile(target=os.readlink(entry.path), mode=0o777)  # noqa: PTH115
        if not stat.S_ISREG(info.st_mode):
            message = "neither a file, a directory nor a link"
            findings.append(Finding(code="special-file", file=path, message=message, fix="remove it"))
            return None
        data = _read_regular(entry.path, min(limits.file_bytes, room))
    except OSError as error:
        findings.append(_unreadable(path, error))
        return None
    except UnicodeError:
        findings.append(Finding(code="link-target", file=path, message="link target is not UTF-8", fix="rename it"))
        return None
    if data is None:
        findings.append(_too_large(path, info.st_size, limits))
        return None
    return BundleFile(data=data, mode=stat.S_IMODE(info.st_mode) & 0o777)


def _read_regular(path: str, cap: int) -> bytes | None:
    """Content of a file of at most `cap` bytes, None when longer; never follows a link, never waits for a fifo."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it stopped being a regular file")
        data = stream.read(cap + 1)
    return data if len(data) <= cap else None


def _too_large(path: str, size: int, limits: SizeLimits) -> Finding:
    message = (
        f"{size / MiB:.1f} MiB: a file may have {limits.file_bytes / MiB:.0f} MiB, "
        f"a bundle {limits.total_bytes / MiB:.0f} MiB"
    )
    return Finding(code="too-large", file=path, message=message, fix="make or fetch large data in the Dockerfile")


def _too_many(limits: SizeLimits) -> Finding:
    message = f"more than {limits.files} files"
    return Finding(code="too-many-files", message=message, fix="pack them into an archive that the Dockerfile unpacks")


def _unreadable(path: str, error: OSError) -> Finding:
    message = f"cannot be read: {error.strerror or error}"
    return Finding(code="unreadable", file=path, message=message, fix="check owner and permissions")
