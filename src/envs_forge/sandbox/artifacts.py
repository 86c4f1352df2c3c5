"""Carries the declared artifacts of a task from the agent's sandbox to that of a separate verifier.

What comes is hostile, and lands where the tests look: regular files, directories, and links that stay inside the
artifact. Whatever would land in the verifier's own directories is left behind, and so are devices and set-id bits.
"""

from __future__ import annotations

import fnmatch
import posixpath
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO, cast

from envs_forge.bundle.model import Artifact
from envs_forge.sandbox.engine import MiB, Sandbox

SPOOL_BYTES = 16 * MiB
MOST_BYTES = 1024 * MiB
MOST_ENTRIES = 100_000
ALWAYS = Artifact(source="/logs/artifacts")
"""What Harbor carries over whether it is declared or not."""
OFF_LIMITS = ("/tests", "/logs/verifier", "/proc", "/sys", "/dev")


class ArtifactsError(ValueError):
    """The artifacts are malformed or larger than allowed; the message says which."""


@contextmanager
def gathered(work: Sandbox, declared: Iterable[Artifact], workdir: str) -> Iterator[BinaryIO]:
    """One archive of the artifacts, each at its own path, to be unpacked at `/`.

    Args:
        work: The sandbox that the agent worked in.
        declared: The task's artifacts.
        workdir: What relative sources are relative to.

    Raises:
        ArtifactsError: They are larger than a verifier takes, or what the sandbox sent is no archive.
        InfrastructureError: The machine failed.
    """
    with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
        bag = _Bag(cast(IO[bytes], spool))
        for artifact in (ALWAYS, *declared):
            source = posixpath.normpath(posixpath.join("/", workdir, artifact.source)).replace("//", "/")
            _gather(work, source, artifact.exclude, bag)
        yield bag.finished()


def _gather(work: Sandbox, source: str, exclude: tuple[str, ...], bag: _Bag) -> None:
    above = posixpath.dirname(source).rstrip("/")
    try:
        with work.get(source) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            while (member := tar.next()) is not None:
                path = f"{above}/{member.name.strip('/')}"
                if not _is_excluded(path, source, exclude) and not _is_off_limits(path):
                    bag.add(tar, member, path, source)
                tar.members.clear()  # type: ignore[attr-defined] # or it would remember them all
    except FileNotFoundError:
        return
    except tarfile.TarError as error:
        raise ArtifactsError(f"the artifact {source} cannot be read: {error}") from error


def _is_excluded(path: str, source: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern fits the path inside the artifact, or a name on it."""
    inside = path.removeprefix(source).strip("/")
    names = [inside, *inside.split("/")] if inside else []
    return any(fnmatch.fnmatchcase(name, pattern.strip("/")) for pattern in patterns for name in names)


def _is_off_limits(path: str) -> bool:
    return any(f"{path}/".startswith(f"{place}/") for place in OFF_LIMITS)


def _stays_inside(link: str, target: str, source: str) -> bool:
    """Whether a link's target lies in the artifact, however the links on its way lead: `..` only at its beginning."""
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = next((count for count, part in enumerate(parts) if part != ".."), len(parts))
    if ".." in parts[ups:]:
        return False
    start = "/" if target.startswith("/") else posixpath.dirname(link)
    end = posixpath.normpath(posixpath.join(start, *parts))
    return f"{end}/".startswith(f"{source}/")


class _Bag:
    """Entries in one archive, named from the root."""

    def __init__(self, spool: IO[bytes]) -> None:
        self._spool = spool
        self._tar = tarfile.open(fileobj=spool, mode="w", format=tarfile.GNU_FORMAT)  # noqa: SIM115 - see finished
        self._seen: set[str] = set()
        self._bytes = 0

    def add(self, source: tarfile.TarFile, member: tarfile.TarInfo, path: str, root: str) -> None:
        """Take one entry over, if it may come.

        Raises:
            ArtifactsError: That is more than a verifier takes.
        """
        if path in self._seen or not self._may_come(member, path, root):
            return
        self._bytes += member.size if member.isreg() else 0
        self._seen.add(path)
        if self._bytes > MOST_BYTES or len(self._seen) > MOST_ENTRIES:
            raise ArtifactsError(f"the artifacts are more than {MOST_BYTES // MiB} MB or {MOST_ENTRIES} files")
        member.name = path.lstrip("/")
        member.mode &= 0o777
        self._tar.addfile(member, source.extractfile(member) if member.isreg() else None)

    def finished(self) -> BinaryIO:
        """The archive, at its start."""
        self._tar.close()
        self._spool.seek(0)
        return cast(BinaryIO, self._spool)

    def _may_come(self, member: tarfile.TarInfo, path: str, root: str) -> bool:
        if member.issym():
            return path != root and _stays_inside(path, member.linkname, root)
        if member.islnk():
            first = f"{posixpath.dirname(root).rstrip('/')}/{member.linkname.strip('/')}"
            member.linkname = first.lstrip("/")
            return first in self._seen
        return member.isreg() or member.isdir()
