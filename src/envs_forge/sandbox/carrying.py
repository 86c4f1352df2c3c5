"""A sandbox of the untouched image with the agent's work carried over, and nothing else of what the agent changed."""

from __future__ import annotations

import posixpath
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, BinaryIO, cast

from envs_forge.errors import EngineError
from envs_forge.sandbox.engine import Engine, FileChange, Sandbox, SandboxSpec, Snapshot

SPOOL_BYTES = 16 * 1024 * 1024
_BATCH = 200
_TIMEOUT_S = 120.0
_CLEAR = 'for p; do if [ -d "$p" ] && [ ! -L "$p" ]; then rm -rf -- "$p"; else rm -f -- "$p"; fi; done; true'
_UNFILE = 'for p; do if [ ! -d "$p" ] || [ -L "$p" ]; then rm -f -- "$p"; fi; done; true'


@contextmanager
def carried_over(
    engine: Engine, snapshot: Snapshot, spec: SandboxSpec, changes: Sequence[FileChange]
) -> Iterator[Sandbox]:
    """A sandbox made from the snapshot's image, with `changes` of the snapshot made to it.

    Args:
        engine: Made the snapshot.
        snapshot: What the agent left.
        spec: How the sandbox is made.
        changes: Those that are carried over.

    Raises:
        InfrastructureError: The machine failed.
    """
    with engine.create(snapshot.image, spec) as clean:
        with engine.create(snapshot, replace(spec, fresh_dirs=())) as source, _collected(source, changes) as bag:
            _run(clean, _CLEAR, [change.path for change in changes if change.deleted])
            _run(clean, _UNFILE, bag.directories)
            _run(clean, _CLEAR, bag.others)
            if bag.directories or bag.others:
                clean.put("/", cast(BinaryIO, bag.archive))
        yield clean


class _Bag:
    """Entries of changed paths in one archive, named from the root."""

    def __init__(self, archive: IO[bytes]) -> None:
        self.archive = archive
        self.directories: list[str] = []
        self.others: list[str] = []
        self._seen: set[str] = set()
        self._tar = tarfile.open(fileobj=archive, mode="w", format=tarfile.GNU_FORMAT)  # noqa: SIM115 - closed below

    def add(self, source: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        """Take one entry over; devices are left behind."""
        if path in self._seen or not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            return
        self._seen.add(path)
        (self.directories if member.isdir() else self.others).append(path)
        content = source.extractfile(member) if member.isreg() else None
        member.name = path.lstrip("/")
        self._tar.addfile(member, content)

    def close(self) -> None:
        """End the archive and go back to its start."""
        self._tar.close()
        self.archive.seek(0)


@contextmanager
def _collected(source: Sandbox, changes: Sequence[FileChange]) -> Iterator[_Bag]:
    wanted = {change.path for change in changes if not change.deleted}
    with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
        bag = _Bag(cast(IO[bytes], spool))
        for root, is_alone in _roots(wanted):
            _collect(source, root, wanted, bag, only_first=is_alone)
        bag.close()
        yield bag


def _roots(wanted: set[str]) -> Iterator[tuple[str, bool]]:
    """Where to read: for each top-level directory what its changes share, and the directories above that alone."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(wanted):
        groups[path.split("/")[1]].append(path)
    for paths in groups.values():
        holding = {parent for path in paths for parent in _parents(path)}
        root = posixpath.commonpath([path for path in paths if path not in holding])
        yield from ((path, True) for path in paths if path in _parents(root))
        yield root, False


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(2, len(parts))]


def _collect(source: Sandbox, root: str, wanted: set[str], bag: _Bag, *, only_first: bool) -> None:
    above = posixpath.dirname(root).rstrip("/")
    try:
        with source.get(root) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
            while (member := tar.next()) is not None:
                path = f"{above}/{member.name.strip('/')}"
                if member.islnk():
                    member.linkname = f"{above}/{member.linkname.strip('/')}".lstrip("/")
                if path in wanted:
                    bag.add(tar, member, path)
                if only_first:
                    return
                tar.members.clear()  # type: ignore[attr-defined] # or it would remember them all
    except FileNotFoundError:
        return
    except tarfile.TarError as error:
        raise EngineError(f"what an agent left at {root} cannot be read: {error}") from error


def _run(sandbox: Sandbox, script: str, paths: Iterable[str]) -> None:
    """Run a script of the untouched image over paths; names that no command line can hold are left out."""
    listed = [path for path in paths if path.isprintable() or path.encode("utf-8", errors="ignore").decode() == path]
    for start in range(0, len(listed), _BATCH):
        batch = listed[start : start + _BATCH]
        done = sandbox.exec(["/bin/sh", "-c", script, "sh", *batch], timeout=_TIMEOUT_S, user="0:0", cwd="/")
        if done.exit_code != 0:
            raise EngineError(f"the agent's work cannot be carried over: {done.stderr[-300:]!r}")
