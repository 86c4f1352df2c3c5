"""Tasks for the benchmarks: quick shell tasks, pytest tasks, and any number of generated ones."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from envs_forge.bundle import write_bundle
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import bundle_from_files
from envs_forge.sandbox.prerequisites import BASE_IMAGE
from envs_forge.synthesis.procedural.build import NoDataError
from envs_forge.synthesis.procedural.composition import Composition, read_composition
from envs_forge.synthesis.procedural.pool import pool
from envs_forge.synthesis.procedural.render import render

TOML = """schema_version = "1.4"

[task]
name = "envs-forge/{name}"

[agent]
timeout_sec = 60.0

[verifier]
timeout_sec = 60.0

[environment]
build_timeout_sec = 300.0
cpus = 1
memory_mb = 512
storage_mb = 1024
"""
INSTRUCTION = """/app/sales.csv has lines `name,amount` without a header. Write the {n} lines with the largest amounts
to /app/top.csv, largest first, and the number of lines of /app/sales.csv to /app/count.txt.
"""
DOCKERFILE = f"FROM {BASE_IMAGE}\nWORKDIR /app\nCOPY sales.csv /app/sales.csv\n"
SOLUTION = """#!/bin/sh
sort -t, -k2,2nr /app/sales.csv | head -n {n} > /app/top.csv
wc -l < /app/sales.csv > /app/count.txt
"""
SHELL_TEST = """#!/bin/sh
mkdir -p /logs/verifier
reward=0
if cmp -s /app/top.csv /tests/top.csv && [ "$(cat /app/count.txt)" = {count} ]; then reward=1; fi
echo $reward > /logs/verifier/reward.txt
"""
PYTEST_TEST = """#!/bin/sh
mkdir -p /logs/verifier
if python3 -m pytest -q -p no:cacheprovider /tests/test_outputs.py; then reward=1; else reward=0; fi
echo $reward > /logs/verifier/reward.txt
"""
PYTEST_FILE = """from pathlib import Path


def test_top():
    assert Path("/app/top.csv").read_text() == Path("/tests/top.csv").read_text()


def test_count():
    assert Path("/app/count.txt").read_text().strip() == "{count}"
"""


def tasks(number: int, *, with_pytest: bool = False) -> list[Bundle]:
    """Sound tasks that differ in data and parameters.

    They name no network mode, because Harbor's docker environment has no other than its default here; run them
    without a network all the same.

    Args:
        number: How many.
        with_pytest: Whether pytest judges, or a few lines of shell that take some milliseconds.
    """
    return [_task(index, with_pytest) for index in range(number)]


def _task(index: int, with_pytest: bool) -> Bundle:
    rows = [(f"shop-{at:02d}", (at * 7919 + index * 104729) % 9973) for at in range(20 + index)]
    most = 3 + index % 5
    top = sorted(rows, key=lambda row: -row[1])[:most]
    name = f"{'pytest' if with_pytest else 'shell'}-{index:02d}"
    texts = {
        "instruction.md": INSTRUCTION.format(n=most),
        "task.toml": TOML.format(name=name),
        "environment/Dockerfile": DOCKERFILE,
        "environment/sales.csv": _csv(rows),
        "solution/solve.sh": SOLUTION.format(n=most),
        "tests/test.sh": (PYTEST_TEST if with_pytest else SHELL_TEST).format(count=len(rows)),
        "tests/top.csv": _csv(top),
    }
    if with_pytest:
        texts["tests/test_outputs.py"] = PYTEST_FILE.format(count=len(rows))
    files = {path: BundleFile(data=text.encode(), mode=_mode(path)) for path, text in texts.items()}
    bundle, findings = bundle_from_files(name, files)
    assert bundle is not None, findings
    return bundle


def _csv(rows: list[tuple[str, int]]) -> str:
    return "".join(f"{name},{amount}\n" for name, amount in rows)


def _mode(path: str) -> int:
    return 0o755 if path.endswith(".sh") else 0o644


def write_generated(number: int, folder: Path) -> None:
    """Write bundles of the procedural generator: the seed pool's compositions with other seed numbers."""
    for index, bundle in zip(range(number), _generated(), strict=False):
        write_bundle(bundle.model_copy(update={"id": f"{index:04d}-{bundle.id}"}), folder)


def _generated() -> Iterator[Bundle]:
    known = [_composition(bundle) for bundle in pool()]
    turn = 0
    while True:
        turn += 1
        for composition in known:
            try:
                yield render(composition.model_copy(update={"number": composition.number + turn}))
            except NoDataError:
                continue


def _composition(bundle: Bundle) -> Composition:
    metadata = tomllib.loads(bundle.files["task.toml"].data.decode())["metadata"]
    composition = read_composition(metadata["envs_forge"])
    assert composition is not None
    return composition
