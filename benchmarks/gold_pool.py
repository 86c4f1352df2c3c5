"""Many generated bundles in one command: its time, its memory over time, and what it leaves on the machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from envs_forge.sandbox import owner
from envs_forge.sandbox.docker.connection import connect
from envs_forge.sandbox.docker.container import KIND_LABEL, OWNER_LABEL
from envs_forge.sandbox.images.build_limits import GROUP as BUILDS
from envs_forge.sandbox.oci.state import state_root
from gold_tasks import write_generated

SAMPLE_S = 0.5
TEMPORARY = "tmp"
MiB = 1024 * 1024


def measure(number: int, stages: str | None, folder: Path | None) -> dict[str, Any]:
    """Make bundles, verify them with `envs-forge verify`, and again, when nothing has changed.

    Args:
        number: How many.
        stages: Names of stages, None for all.
        folder: Where they are made, or lie already; None for a directory that is removed afterwards.
    """
    with tempfile.TemporaryDirectory(prefix="gold-pool-") as scratch:
        place = folder or Path(scratch, "pool")
        if not place.exists():
            write_generated(number, place)
        cache = Path(scratch, "cache")
        before = leftovers()
        first = _verify(place, number, stages, cache)
        again = _verify(place, number, stages, cache)
        after = leftovers() | {f"file {each.name}" for each in (cache / TEMPORARY).iterdir()}
    return {
        "bundles": number,
        "stages": stages or "all",
        "decisions": first["decisions"],
        "not_accepted": first["not_accepted"],
        "seconds": first["seconds"],
        "per_min": round(number / first["seconds"] * 60, 1),
        "rss_mb": first["rss_mb"],
        "children_rss_mb_peak": first["children_rss_mb_peak"],
        "unchanged_seconds": again["seconds"],
        "unchanged_cached": again["cached"],
        "unchanged_rss_mb_peak": again["rss_mb"]["peak"],
        "leftovers": sorted(after - before),
    }


def _verify(place: Path, number: int, stages: str | None, cache: Path) -> dict[str, Any]:
    program = Path(sys.executable).with_name("envs-forge")
    command = [str(program), "verify", "-p", str(place), "-l", str(number), "--json", "-q"]
    command += ["--stages", stages] if stages else []
    (cache / TEMPORARY).mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "TMPDIR": str(cache / TEMPORARY)}
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stdin=subprocess.DEVNULL, env=environment)
        with ended_with_us(process):
            samples, children = _watched(process)
        seconds = time.perf_counter() - began
        output.seek(0)
        said = json.loads(output.read() or b"{}")
    if not said:
        raise SystemExit(f"verify failed with exit code {process.returncode}")
    verdicts = said["verdicts"]
    return {
        "seconds": round(seconds, 1),
        "decisions": Counter(verdict["decision"] for verdict in verdicts),
        "not_accepted": [
            f"{verdict['bundle_id']}: {verdict['decision']} {verdict['stage']}/{verdict['code']}"
            for verdict in verdicts
            if verdict["decision"] != "accepted"
        ][:20],
        "cached": sum(verdict["cached"] for verdict in verdicts),
        "rss_mb": _profile(samples),
        "children_rss_mb_peak": round(max(children, default=0) / MiB),
    }


@contextlib.contextmanager
def ended_with_us(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """A process that is told to end, and waited for, when we are ended with SIGTERM or by an error."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if process.poll() is None:
            process.terminate()
            process.wait()


def _watched(process: subprocess.Popen[bytes]) -> tuple[list[int], list[int]]:
    """Resident memory of the process, and of its children together, sampled until it ends."""
    samples: list[int] = []
    children: list[int] = []
    while process.poll() is None:
        samples.append(_rss(process.pid))
        children.append(sum(_rss(child) for child in _children(process.pid)))
        time.sleep(SAMPLE_S)
    return [sample for sample in samples if sample], children


def _rss(pid: int) -> int:
    """Bytes; 0 for a process that is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _children(pid: int) -> list[int]:
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in file.read_text().split()]
        except OSError:
            continue
    return found


def _profile(samples: list[int]) -> dict[str, int]:
    """The peak, and the medians of the second and of the last quarter: flat memory shows in the two being alike."""
    quarter = max(1, len(samples) // 4)
    parts = {"second_quarter": samples[quarter : 2 * quarter] or samples, "last_quarter": samples[-quarter:]}
    found = {name: round(statistics.median(part) / MiB) for name, part in parts.items()}
    return {"peak": round(max(samples) / MiB), **found}


def leftovers() -> set[str]:
    """Everything of Envs-FORGE's kind on this machine that no living process owns: names, for comparison."""
    client = connect()
    label = {"label": KIND_LABEL}
    found = {
        f"container {each['Names'][0]}"
        for each in client.containers(all=True, filters=label)
        if not _lives(each["Labels"].get(OWNER_LABEL, ""))
    }
    found |= {f"network {each['Name']}" for each in client.networks(filters=label)}
    owners = list((state_root() / "owners").glob("*"))
    alive = [place for place in owners if _lives(place.name.rpartition("-")[0])]
    found |= {f"owner {place.name}" for place in owners if place not in alive}
    mounts = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    for place in (Path(line.split(" ")[4]) for line in mounts):
        if place.is_relative_to(state_root()) and not any(place.is_relative_to(home) for home in alive):
            found.add(f"mount {place}")
    # The group of builds is everybody's; the last one who builds removes it.
    at_work = {sandbox.name for home in alive for sandbox in home.glob("run/sandboxes/*")} | {BUILDS}
    groups = (each for each in Path("/sys/fs/cgroup").glob("**/envs-forge-*") if each.name not in at_work)
    return found | {f"control group {each}" for each in groups if each.is_dir()}


def _lives(mark: str) -> bool:
    """Whether the process that a mark names is alive."""
    who = owner.parse(mark)
    return who is not None and not who.is_dead()
