"""What a sound task does not depend on: surroundings that may be changed without changing its outcome.

Only what the image and the task leave open is changed.
"""

from __future__ import annotations

import io
import struct
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from envs_forge.sandbox.engine import Sandbox
from envs_forge.sandbox.runtime import Prepared, Runtime

_ORDER_DIRECTORY = "/opt/envs-forge-order"
_ORDER_PLUGIN = b"""import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.reverse()
"""
_FAKETIME = "/usr/lib/*/faketime/libfaketime.so.1"
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
        files: Files that do it, by absolute path.
    """

    name: str
    env: Mapping[str, str] | None = None
    hostname: str | None = None
    cpus: float | None = None
    files: Mapping[str, bytes] | None = None


def zone_file(seconds_east: int) -> bytes:
    """A time zone with one fixed offset, in the format of tzfile(5), version 1.

    A file and no `TZ`: programs that are started with an empty environment, as cron does it, see the same zone.
    """
    counts = struct.pack(">6l", 0, 0, 0, 0, 1, 6)
    return b"TZif" + bytes(16) + counts + struct.pack(">lBB", seconds_east, 0, 0) + b"FORGE\0"


LOCALTIME = "/etc/localtime"
TIME_ZONE = "time zone"
RUNS: tuple[tuple[Change, ...], ...] = (
    (
        Change(TIME_ZONE, files={LOCALTIME: zone_file(13 * 3600 + 2700)}),
        Change("PYTHONHASHSEED", env={"PYTHONHASHSEED": "1"}),
        Change("LANG", env={"LANG": "C.UTF-8"}),
        Change("hostname", hostname="a-quite-other-host"),
        Change("cpus", cpus=2.0),
        Change(
            "test order",
            env={"PYTHONPATH": _ORDER_DIRECTORY, "PYTEST_ADDOPTS": "-p envs_forge_order"},
            files={f"{_ORDER_DIRECTORY}/envs_forge_order.py": _ORDER_PLUGIN},
        ),
    ),
    (
        Change(TIME_ZONE, files={LOCALTIME: zone_file(-11 * 3600 - 1800)}),
        Change("PYTHONHASHSEED", env={"PYTHONHASHSEED": "4242"}),
        Change("LANG", env={"LANG": "POSIX"}),
        Change("hostname", hostname="b7"),
        Change("cpus", cpus=0.5),
    ),
)
"""What is changed in each repeated run; things of one run are changed together."""


@dataclass(frozen=True, slots=True)
class Openings:
    """What image and task leave open, as far as a look into a sandbox shows it.

    Attributes:
        variables: Variables that are set already.
        time_zone: Whether no other zone than UTC is set.
        faketime: Path of libfaketime in the image, empty where it has none.
    """

    variables: frozenset[str]
    time_zone: bool
    faketime: str

    def allow(self, change: Change) -> bool:
        """Whether a change touches nothing that is set."""
        return (change.name != TIME_ZONE or self.time_zone) and self.variables.isdisjoint(change.env or {})


def openings(runtime: Runtime, prepared: Prepared) -> Openings:
    """Look what may be changed."""
    variables = frozenset({*prepared.image.env, *prepared.spec.env})
    look = f"date +%z; ls {_FAKETIME} 2>/dev/null"
    with runtime.open(prepared) as work:
        seen = work.exec(["/bin/sh", "-c", look], timeout=30.0, cwd="/").stdout.decode("utf-8", errors="replace")
    zone, _, library = seen.partition("\n")
    path = library.partition("\n")[0]
    return Openings(
        variables=variables,
        time_zone=zone.strip() == "+0000" and "TZ" not in variables,
        faketime=path if path.startswith("/usr/lib/") else "",
    )


def date_change(opened: Openings) -> Change | None:
    """A change of the date through libfaketime; None where the image does not have it."""
    if not opened.faketime:
        return None
    variables = {"LD_PRELOAD": opened.faketime, "FAKETIME": FAR_DATE, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    change = Change("date", env=variables)
    return change if opened.allow(change) else None


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
    return replace(prepared, spec=spec)


def furnish(work: Sandbox, changes: Iterable[Change]) -> None:
    """Put the files of the changes into a sandbox."""
    for change in changes:
        for path, data in (change.files or {}).items():
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
