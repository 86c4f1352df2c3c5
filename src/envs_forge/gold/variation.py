"""What a sound task does not depend on: surroundings that may be changed without changing its outcome.

Only what the image and the task leave open is changed.
"""

from __future__ import annotations

import io
import re
import struct
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from envs_forge.sandbox.engine import Sandbox
from envs_forge.sandbox.runtime import Prepared

_ORDER_DIRECTORY = "/opt/envs-forge-order"
_ORDER_PLUGIN = b"""import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.reverse()
"""
_FAKETIME = "/usr/lib/*/faketime/libfaketime.so.1"
"""Where Debian's package and its kin have the library, in images and on this machine."""
_BROUGHT = "/opt/envs-forge-date/libfaketime.so.1"
FAR_DATE = f"+{431 * 86400 + 4 * 3600}"
"""Seconds: another year, month, day of the week and hour."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different in a run.

    Attributes:
        name: For people, e.g. `time zone`.
        env: Variables that do it. If the image or the task sets one of them, the change does not apply.
        hostname: Host name that does it.
        cpus: Share of processors that does it.
        cores: Number of processors that does it.
        files: Files that do it, by absolute path.
        value: What it is changed to, for people, where no field above tells.
    """

    name: str
    env: Mapping[str, str] | None = None
    hostname: str | None = None
    cpus: float | None = None
    cores: int | None = None
    files: Mapping[str, bytes] | None = None
    value: str = ""

    def __str__(self) -> str:
        told = self.value or self.hostname or self.cores or self.cpus or (self.env or {}).get(self.name, "")
        return f"{self.name} ({told})" if told else self.name


def zone_file(seconds_east: int) -> bytes:
    """A time zone with one fixed offset, in the format of tzfile(5), version 1.

    A file and no `TZ`: programs that are started with an empty environment, as cron does it, see the same zone.
    """
    counts = struct.pack(">6l", 0, 0, 0, 0, 1, 6)
    return b"TZif" + bytes(16) + counts + struct.pack(">lBB", seconds_east, 0, 0) + b"FORGE\0"


LOCALTIME = "/etc/localtime"
TIME_ZONE = "time zone"
CORES = "cpu count"
DATE = "date"
RUNS: tuple[tuple[Change, ...], ...] = (
    (
        Change(TIME_ZONE, files={LOCALTIME: zone_file(13 * 3600 + 2700)}, value="+13:45"),
        Change("PYTHONHASHSEED", env={"PYTHONHASHSEED": "1"}),
        Change("LANG", env={"LANG": "C.UTF-8"}),
        Change("hostname", hostname="a-quite-other-host"),
        Change("cpu share", cpus=2.0),
        Change(
            "test order",
            env={"PYTHONPATH": _ORDER_DIRECTORY, "PYTEST_ADDOPTS": "-p envs_forge_order"},
            files={f"{_ORDER_DIRECTORY}/envs_forge_order.py": _ORDER_PLUGIN},
            value="the last first",
        ),
    ),
    (
        Change(TIME_ZONE, files={LOCALTIME: zone_file(-11 * 3600 - 1800)}, value="-11:30"),
        Change("PYTHONHASHSEED", env={"PYTHONHASHSEED": "4242"}),
        Change("LANG", env={"LANG": "POSIX"}),
        Change("hostname", hostname="b7"),
        Change("cpu share", cpus=0.5),
        Change(CORES, cores=1),
    ),
)
"""What is changed in each repeated run; things of one run are changed together."""


@dataclass(frozen=True, slots=True)
class Openings:
    """What image, task and machine leave open, as far as a look into a sandbox shows it.

    Attributes:
        variables: Variables that are set already.
        time_zone: Whether no other zone than UTC is set.
        cores: How many processors a program sees.
        faketime: Path of a libfaketime that works in the image, empty where there is none.
        brought: The library itself, where it is this machine's and must be put there.
    """

    variables: frozenset[str]
    time_zone: bool
    cores: int = 2
    faketime: str = ""
    brought: bytes = b""

    def allow(self, change: Change) -> bool:
        """Whether a change touches nothing that is set, and changes anything."""
        if change.name == TIME_ZONE and not self.time_zone:
            return False
        if change.cores is not None and change.cores >= self.cores:
            return False
        return self.variables.isdisjoint(change.env or {})

    @property
    def date_is_fixed(self) -> str:
        """Why `date_change` has nothing to offer."""
        if self.faketime:
            return "the image or the task sets variables that it needs"
        return "no libfaketime that works in the image, neither in it nor on this machine"


def openings(prepared: Prepared, work: Sandbox) -> Openings:
    """Look what may be changed.

    Args:
        prepared: The task.
        work: A fresh sandbox of it; it can be used for nothing else afterwards.
    """
    variables = frozenset({*prepared.image.env, *prepared.spec.env})
    zone, count, library = _said(work, f"date +%z; nproc; ls {_FAKETIME}", {}, 3)
    brought = b""
    if not _fakes(work, library):
        library, brought = "", _of_this_machine()
        if brought:
            _put(work, _BROUGHT, brought)
            library = _BROUGHT if _fakes(work, _BROUGHT) else ""
    return Openings(
        variables=variables,
        time_zone=zone == "+0000" and "TZ" not in variables,
        cores=_number(count) or 1,
        faketime=library,
        brought=brought if library else b"",
    )


def date_change(opened: Openings) -> Change | None:
    """A change of the date through libfaketime; None where that does not work."""
    if not opened.faketime:
        return None
    files = {opened.faketime: opened.brought} if opened.brought else None
    change = Change(DATE, env=_date_variables(opened.faketime), files=files, value="431 days later")
    return change if opened.allow(change) else None


def _date_variables(library: str) -> dict[str, str]:
    return {"LD_PRELOAD": library, "FAKETIME": FAR_DATE, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


def _said(work: Sandbox, script: str, env: Mapping[str, str], lines: int) -> list[str]:
    """The first lines that a script prints, empty ones where it prints fewer."""
    done = work.exec(["/bin/sh", "-c", f"( {script} ) 2> /dev/null"], timeout=30.0, env=env, cwd="/")
    return [*done.stdout.decode("utf-8", errors="replace").splitlines(), *[""] * lines][:lines]


def _fakes(work: Sandbox, library: str) -> bool:
    """Whether programs of a sandbox see another date with a library; not where libc is another or too old."""
    if not library.startswith("/"):
        return False
    before, after = (_number(_said(work, "date +%s", env, 1)[0]) for env in ({}, _date_variables(library)))
    return before is not None and after is not None and after - before > int(FAR_DATE) / 2


def _number(text: str) -> int | None:
    """A number as programs print it; None for anything else that an image may say."""
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text) else None


@cache
def _of_this_machine() -> bytes:
    """The library of this machine, nothing where it has none."""
    found = sorted(Path("/").glob(_FAKETIME.lstrip("/")))
    return found[0].read_bytes() if found else b""


def changed(prepared: Prepared, changes: Iterable[Change]) -> Prepared:
    """The bundle with sandboxes that differ by the changes."""
    spec = prepared.spec
    for change in changes:
        if change.env:
            spec = replace(spec, env={**spec.env, **change.env})
        if change.hostname is not None:
            spec = replace(spec, hostname=change.hostname)
        if change.cpus is not None:
            spec = replace(spec, limits=replace(spec.limits, cpus=change.cpus))
        if change.cores is not None:
            spec = replace(spec, limits=replace(spec.limits, cores=change.cores))
    return replace(prepared, spec=spec)


def furnish(work: Sandbox, changes: Iterable[Change]) -> None:
    """Put the files of the changes into a sandbox."""
    for change in changes:
        for path, data in (change.files or {}).items():
            _put(work, path, data)


def _put(work: Sandbox, path: str, data: bytes) -> None:
    directory, _, name = path.rpartition("/")
    work.put(directory, _archive(name, data))


def _archive(name: str, data: bytes) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        member.mode = 0o644
        archive.addfile(member, io.BytesIO(data))
    buffer.seek(0)
    return buffer
