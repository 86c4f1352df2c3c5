"""Watches what sandboxes write, where the engine's storage cannot cap it itself.

What holds: one file never outgrows the limit (a resource limit of the container), and a sandbox whose files add
up to more is stopped within about `PAUSE_S` seconds plus the time of one look; files that are deleted but still open
count where the engine is on this machine and this is root. What does not: in that time it can write on. The `oci`
engine has a real cap.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import docker

from envs_forge.errors import ForgeError
from envs_forge.sandbox.docker.connection import translated
from envs_forge.sandbox.docker.deleted import deleted_bytes, group_of

PAUSE_S = 1.0
BUSY_SHARE = 20
"""The watcher sleeps at least this many times as long as it looked."""


@dataclass(frozen=True, slots=True)
class Watched:
    """One sandbox: where its writes lie on this machine (nowhere if the engine is elsewhere), limit, what to do.

    `group` is its control group, where its open files can be looked at.
    """

    container: str
    roots: tuple[str, ...]
    limit: int
    on_full: Callable[[], None]
    group: Path | None = None


class DiskWatch:
    """Looks at all open sandboxes from one thread, which starts with the first.

    Args:
        client: Connection to the engine.
    """

    def __init__(self, client: docker.APIClient) -> None:
        self._client = client
        self._watched: dict[str, Watched] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, container: str, limit: int, on_full: Callable[[], None]) -> None:
        """Watch `container`; call `on_full` once when it wrote more than `limit` bytes."""
        with translated("look at a sandbox"):
            roots = writable_roots(self._client, container)
            group = group_of(self._client, container) if roots else None
        with self._lock:
            self._watched[container] = Watched(container, roots, limit, on_full, group)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="disk-watch", daemon=True)
                self._thread.start()

    def remove(self, container: str) -> None:
        """Watch it no longer."""
        with self._lock:
            self._watched.pop(container, None)

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        pause = PAUSE_S
        while not self._stop.wait(pause):
            began = time.monotonic()
            with self._lock:
                watched = list(self._watched.values())
            for one in watched:
                with contextlib.suppress(ForgeError):
                    self._look(one)
            pause = max(PAUSE_S, BUSY_SHARE * (time.monotonic() - began))

    def _look(self, one: Watched) -> None:
        used = bytes_under(one.roots, one.limit) if one.roots else self._ask(one.container)
        if one.group is not None and used <= one.limit:
            used += deleted_bytes(one.group)
        if used > one.limit:
            self.remove(one.container)
            one.on_full()

    def _ask(self, container: str) -> int:
        """The engine's own figure, for an engine on another machine. It leaves volumes out."""
        with translated("measure a sandbox"):
            found = self._client.containers(filters={"id": container}, size=True)
        return int(found[0].get("SizeRw") or 0) if found else 0


def writable_roots(client: docker.APIClient, container: str) -> tuple[str, ...]:
    """Directories of this machine that hold what `container` writes; empty where they cannot be read."""
    state = client.inspect_container(container)
    upper = ((state.get("GraphDriver") or {}).get("Data") or {}).get("UpperDir")
    if not upper or not os.access(upper, os.R_OK | os.X_OK):
        return ()
    return (upper, *(mount["Source"] for mount in state["Mounts"] if mount["Type"] == "volume"))


def bytes_under(roots: Iterable[str], enough: int) -> int:
    """Bytes on disk under `roots`, hard links once; counting stops beyond `enough`. Links are not followed."""
    total = 0
    for size in _sizes(list(roots)):
        total += size
        if total > enough:
            break
    return total


def _sizes(todo: list[str]) -> Iterator[int]:
    """Bytes of each file and directory below the directories `todo`. What vanishes meanwhile is skipped."""
    seen: set[int] = set()
    while todo:
        with contextlib.suppress(OSError), os.scandir(todo.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    info = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(info.st_mode):
                        todo.append(entry.path)
                    elif info.st_nlink > 1:
                        if info.st_ino in seen:
                            continue
                        seen.add(info.st_ino)
                    yield info.st_blocks * 512
