"""The benchmarks of rollouts run and say what they promise. What they measure is not asserted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def figures(script, *args):
    command = [sys.executable, str(BENCHMARKS / script), "--json", *args]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def test_the_simulation_of_adaptive_rollouts_tells_shares_and_values():
    found = figures("adaptive.py", "--pool", "ushape", "--repeats", "2", "--seeds", "40")
    assert [row["n"] for row in found["rows"]] == [2, 4, 10, 40]
    for row in found["rows"]:
        assert row["arms"]["adaptive 0.6"]["share"] <= 0.6
        assert all(0 <= arm["value"] <= 1 for arm in row["arms"].values())


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.skipif(os.getuid() != 0 or len(os.sched_getaffinity(0)) < 2, reason="needs root and two cores")
def test_the_benchmark_of_rollouts_has_its_keys():
    found = figures("rollouts.py", "--tasks", "1", "--rollouts", "2", "--rounds", "1")
    keys = {"per_second_1", "per_second_2", "raw_per_second", "agent_turn_overhead_ms", "share_1", "share_2"}
    assert keys <= found.keys()
    assert all(found[key] > 0 for key in keys)
