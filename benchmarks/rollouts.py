"""How many rollouts a second the builtin policy does, beside the limit, and what a turn of the terminal agent costs.

All arms take the same rollouts of the same tasks in one run, images built and the first rollout of each arm thrown
away. `per_second_1` is one rollout at a time on one core, `per_second_2` two at a time on two cores, both with the
records and trajectories that `envs-forge measure` keeps; `raw_per_second_1` and `raw_per_second_2` are the plain
commands that these come down to (`rollouts_raw.py`), and `raw_per_second` is the latter. `share_1` and `share_2` are
what is reached of them. `agent_turn_overhead_ms`: see `rollouts_agent.py`. `script_ms` is the time inside the tasks'
own scripts, which no arm can save.

Run as root on Linux: python benchmarks/rollouts.py --json
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TypeVar

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.pool import find_bundles
from envs_forge.bundle.reading import read_bundle
from envs_forge.ledger.store import Ledger
from envs_forge.rollout.identity import trial_seed
from envs_forge.rollout.jobs.writer import JobWriter
from envs_forge.rollout.measure import MeasureOptions, measure
from envs_forge.rollout.policies.builtin.policy import BuiltinPolicy
from envs_forge.rollout.trial import Trial
from envs_forge.run.journal import Journal
from envs_forge.sandbox.runtime import Prepared, Runtime, open_runtime
from gold_raw import opened
from rollouts_agent import turn_overhead
from rollouts_raw import RawRollouts, as_typed

T = TypeVar("T")
POOL = Path(__file__).parents[1] / "seeds"


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Run on the first so many cores; what is started in the block inherits it."""
    every = os.sched_getaffinity(0)
    if count > len(every):
        raise SystemExit(f"this takes {count} cores, there are {len(every)}")
    os.sched_setaffinity(0, sorted(every)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def ours(runtime: Runtime, bundles: Sequence[Bundle], rollouts: int, concurrency: int) -> list[Trial]:
    """Measure as `envs-forge measure` does, ledger and job directory included."""
    policy, trials = BuiltinPolicy(), list[Trial]()
    with tempfile.TemporaryDirectory() as folder, Ledger.open(Path(folder) / "ledger.sqlite") as ledger:
        journal = Journal(ledger)
        job = JobWriter(Path(folder) / "job", policy.identity, {})

        def keep(trial: Trial, bundle: Bundle) -> None:
            journal.add_trial(trial)
            job.add(trial, bundle)
            trials.append(trial)

        measure(runtime, bundles, policy, MeasureOptions(rollouts=rollouts, concurrency=concurrency), on_trial=keep)
        job.finish()
    spoilt = [trial for trial in trials if not trial.counted]
    if spoilt:
        raise SystemExit(f"{len(spoilt)} rollouts do not count, e.g. {spoilt[0].error}")
    return trials


def typed(prepared: Sequence[Prepared], rollouts: int) -> list[Prepared]:
    """The same rollouts for the raw arm."""
    policy = BuiltinPolicy()
    found = []
    for one in prepared:
        digest = content_hash(one.bundle)
        found += as_typed(one, policy, [trial_seed(digest, policy.identity, index) for index in range(rollouts)])
    return found


def compare(bundles: Sequence[Bundle], rollouts: int, rounds: int, profile: bool) -> dict[str, float]:
    """Both arms on one and on two cores, in turns, medians."""
    rates: dict[str, list[float]] = {}
    scripts: list[float] = []
    with open_runtime("oci") as runtime:
        prepared = [one for bundle in bundles if isinstance(one := runtime.prepare(bundle), Prepared)]
        work = typed(prepared, rollouts)
        for number in range(rounds + 1):
            for cores in (1, 2):
                with on_cores(cores):
                    seconds, trials = _timed(partial(ours, runtime, bundles, rollouts, cores), profile)
                    raw_seconds = _raw(work, cores)
                if number:
                    rates.setdefault(f"per_second_{cores}", []).append(len(work) / seconds)
                    rates.setdefault(f"raw_per_second_{cores}", []).append(len(work) / raw_seconds)
                    scripts += [_script_ms(trial) for trial in trials]
            print(f"round {number} of {rounds}", file=sys.stderr)
        agent = turn_overhead(runtime, prepared[0], rounds)
    found = {name: statistics.median(values) for name, values in rates.items()}
    shares = {f"share_{cores}": found[f"per_second_{cores}"] / found[f"raw_per_second_{cores}"] for cores in (1, 2)}
    return {
        **found,
        "raw_per_second": found["raw_per_second_2"],
        **shares,
        "script_ms": statistics.mean(scripts),
        **agent,
    }


def _raw(work: list[Prepared], concurrency: int) -> float:
    disk = max(one.spec.limits.disk_mb for one in work)
    with opened(disk, concurrency, RawRollouts) as raw:
        for one in work:
            raw.prepare(one)
        return _timed(partial(raw.run, work, concurrency), profile=False)[0]


def _script_ms(trial: Trial) -> float:
    steps = sum(step.duration_s for step in trial.attempt.steps) if trial.attempt is not None else 0.0
    return 1000 * (steps + (trial.verification.duration_s if trial.verification is not None else 0.0))


def _timed(action: Callable[[], T], profile: bool) -> tuple[float, T]:
    """Seconds that an action took, and what it gave."""
    profiler = cProfile.Profile() if profile else None
    with profiler or nullcontext():
        began = time.perf_counter()
        result = action()
        seconds = time.perf_counter() - began
    if profiler is not None:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(15)
    return seconds, result


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--tasks", type=int, default=6, help="tasks of the bundled pool (default: %(default)s)")
    parser.add_argument("--rollouts", type=int, default=4, help="rollouts of each (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds that count (default: %(default)s)")
    parser.add_argument("--profile", action="store_true", help="profile the caller's thread on stderr")
    options = parser.parse_args()
    paths = sorted(find_bundles([POOL]))[:: max(1, len(find_bundles([POOL])) // options.tasks)][: options.tasks]
    bundles = [read_bundle(path) for path in paths]
    found = compare(bundles, options.rollouts, options.rounds, options.profile)
    result = {"tasks": len(bundles), "rollouts": options.rollouts, "rounds": options.rounds}
    result |= {name: round(value, 2) for name, value in found.items()}
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for key, value in result.items():
            print(f"{key:24} {value}")


if __name__ == "__main__":
    main()
