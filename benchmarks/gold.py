"""How many bundles gold verification does in a minute, beside the limit, the docker engine and Harbor.

All arms take the same tasks in one run; their images are built beforehand. Wall time, one bundle at a time:

- `fast`: the stages untouched and oracle on the engine `oci`; `full`: all stages;
- `docker_fast`: untouched and oracle on the engine `docker`;
- `raw_fast`: the plain commands that this comes down to, with the same limits and disk cap (`gold_raw.py`);
- `harbor`: Harbor's agents nop and oracle in its docker environment, with `--harbor PATH` (`gold_harbor.py`).

The shell tasks, whose scripts take a few milliseconds, give the ratios. With the pytest tasks it is told what a trial
costs beyond its own scripts. `scaling` compares one bundle at a time with as many as there are cores. Time inside the
bundles' own scripts is told apart.

With `--pool N`, N generated bundles are verified by one command instead, and its memory and leftovers are measured
(`gold_pool.py`). Run as root on Linux: python benchmarks/gold.py --json
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gold_harbor
import gold_pool
import gold_raw
from envs_forge.bundle import write_bundle
from envs_forge.bundle.model import Bundle
from envs_forge.gold.batch import verify_many
from envs_forge.gold.machine import describe
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.verdict import Decision
from envs_forge.run.parts import cores
from envs_forge.sandbox.auto import make_engine
from envs_forge.sandbox.engine import ExecResult, Sandbox
from envs_forge.sandbox.images.model import BuildFault
from envs_forge.sandbox.runtime import Caps, Prepared, Runtime
from envs_forge.sandbox.verification import Verification
from gold_tasks import tasks

TRIALS = 2
"""Trials of a bundle in `untouched` and `oracle`: the tests over nothing, and over the solution's work."""
FAST = VerifyOptions(stages=("untouched", "oracle"))
FULL = VerifyOptions()
ARMS = {
    "fast": "envs-forge verify, stages untouched and oracle, engine oci",
    "full": "envs-forge verify, all stages, engine oci",
    "docker_fast": "envs-forge verify, stages untouched and oracle, engine docker",
    "raw_fast": "mount, cp, runc run, cat, umount, rm as plain commands, three containers a bundle, capped disk",
    "harbor": "harbor run, agents nop and oracle, docker environment as shipped",
}


class Timed(Runtime):
    """A runtime that adds up how long the bundles' own scripts took."""

    scripts_s = 0.0
    _adding = threading.Lock()

    def solve(self, prepared: Prepared, work: Sandbox, *, timeout: float | None = None) -> ExecResult:
        """See `Runtime.solve`."""
        done = super().solve(prepared, work, timeout=timeout)
        self._add(done.duration_s)
        return done

    def verify(self, prepared: Prepared, work: Sandbox | None, **options: Any) -> Verification:
        """See `Runtime.verify`."""
        done = super().verify(prepared, work, **options)
        self._add(done.duration_s)
        return done

    def _add(self, seconds: float) -> None:
        with self._adding:
            self.scripts_s += seconds

    def prepared(self, bundles: list[Bundle]) -> list[Prepared]:
        """Images of all bundles, built where they are missing."""
        outcomes = [self.prepare(bundle) for bundle in bundles]
        faults = [outcome.message for outcome in outcomes if isinstance(outcome, BuildFault)]
        if faults:
            raise SystemExit(f"an image cannot be built: {faults[0]}; run `make base-image`")
        return [outcome for outcome in outcomes if isinstance(outcome, Prepared)]


def verified(runtime: Timed, bundles: list[Bundle], options: VerifyOptions, concurrency: int) -> dict[str, float]:
    """Verify bundles, all of which must be accepted; seconds of the whole, and of their scripts."""
    before, began = runtime.scripts_s, time.perf_counter()
    verdicts = verify_many(bundles, runtime, options, concurrency=concurrency)
    seconds = time.perf_counter() - began
    for verdict in verdicts:
        if verdict.decision is not Decision.ACCEPTED:
            raise SystemExit(f"{verdict.bundle_id} was not accepted: {verdict.stages[-1]}")
    return {"s": seconds, "scripts_s": runtime.scripts_s - before}


class Bench:
    """Runs the arms and keeps their samples."""

    def __init__(self, options: argparse.Namespace, oci: Timed, docker: Timed, raw: gold_raw.Raw) -> None:
        self._options = options
        self._oci = oci
        self._docker = docker
        self._raw = raw
        self._shell = tasks(options.bundles)
        self._pytest = tasks(options.pytest_bundles, with_pytest=True)

    def run(self) -> dict[str, Any]:
        """All arms; the cheap ones `rounds` times, interleaved."""
        prepared = self._oci.prepared(self._shell)
        self._oci.prepared(self._pytest)
        for one in prepared:
            self._raw.prepare(one)
        self._round(prepared)
        rounds = [self._round(prepared) for _ in range(self._options.rounds)]
        medians = {
            arm: {part: statistics.median(each[arm][part] for each in rounds) for part in rounds[0][arm]}
            for arm in rounds[0]
        }
        say("all stages, one bundle at a time and as many as there are cores")
        medians["full"] = verified(self._oci, self._shell, FULL, 1)
        medians["full_n"] = verified(self._oci, self._shell, FULL, cores())
        say("docker engine")
        medians["docker_fast"] = verified(self._docker, self._shell, FAST, 1)
        if self._options.harbor:
            say("harbor: about half a minute a bundle")
            medians["harbor"] = self._harbor(self._options.harbor)
        return self._summary(medians)

    def _round(self, prepared: list[Prepared]) -> dict[str, dict[str, float]]:
        say("a round of untouched and oracle: oci, raw, pytest tasks; then with all cores")
        n = cores()
        return {
            "fast": verified(self._oci, self._shell, FAST, 1),
            "raw_fast": timed(lambda: self._raw.run(prepared, 1)),
            "pytest": verified(self._oci, self._pytest, FAST, 1),
            "fast_n": verified(self._oci, self._shell, FAST, n),
            "raw_fast_n": timed(lambda: self._raw.run(prepared, n)),
            "pytest_n": verified(self._oci, self._pytest, FAST, n),
        }

    def _harbor(self, command: str) -> dict[str, float]:
        found = {}
        with tempfile.TemporaryDirectory(prefix="envs-forge-harbor-") as folder:
            for bundle in self._shell:
                write_bundle(bundle, Path(folder))

            def both() -> None:
                for agent in gold_harbor.AGENTS:
                    found[agent] = gold_harbor.run(command, Path(folder), agent, 1)

            sample = timed(both)
        wrong = [
            f"{agent} on {name}: {trial}"
            for agent, wanted in zip(gold_harbor.AGENTS, (0.0, 1.0), strict=True)
            for name, trial in found[agent].items()
            if trial.reward != wanted
        ]
        if wrong:
            raise SystemExit(f"harbor did not judge the tasks as it should: {'; '.join(wrong[:3])}")
        return sample

    def _summary(self, medians: dict[str, dict[str, float]]) -> dict[str, Any]:
        number = len(self._shell)
        per_min = {
            f"{arm.removesuffix('_fast') if arm == 'harbor' else arm}_per_min": rate(number, medians.get(arm))
            for arm in ARMS
        }
        fast = medians["fast"]
        trials = TRIALS * len(self._pytest)
        own = medians["pytest"]["scripts_s"]
        return {
            **per_min,
            "bundles": number,
            "concurrency": 1,
            "baselines": {arm: text for arm, text in ARMS.items() if arm in medians},
            "ratios": {
                "fast_time_over_raw_fast": over(fast, medians["raw_fast"]),
                "docker_fast_time_over_fast": over(medians["docker_fast"], fast),
                "harbor_time_over_fast": over(medians["harbor"], fast) if "harbor" in medians else None,
            },
            "ms_per_bundle": {arm: round(each["s"] / number * 1000, 1) for arm, each in medians.items() if arm in ARMS},
            "scripts_ms_per_bundle": {
                arm: round(each["scripts_s"] / number * 1000, 1)
                for arm, each in medians.items()
                if arm in ARMS and "scripts_s" in each
            },
            "pytest_bundles": {
                "bundles": len(self._pytest),
                "trials": trials,
                "ms_per_trial": round(medians["pytest"]["s"] / trials * 1000, 1),
                "scripts_ms_per_trial": round(own / trials * 1000, 1),
                "overhead_ms_per_trial": round((medians["pytest"]["s"] - own) / trials * 1000, 1),
            },
            "scaling": {
                "concurrency": cores(),
                **{
                    f"{arm}_speedup": over(medians[arm], medians[f"{arm}_n"])
                    for arm in ("fast", "raw_fast", "pytest", "full")
                },
                "fast_per_min": rate(number, medians["fast_n"]),
                "full_per_min": rate(number, medians["full_n"]),
            },
            "rounds": self._options.rounds,
            "machine": {"cores": cores(), **describe(self._oci, None)},
        }


def timed(action: Callable[[], None]) -> dict[str, float]:
    """Seconds that an action takes."""
    began = time.perf_counter()
    action()
    return {"s": time.perf_counter() - began}


def rate(number: int, sample: dict[str, float] | None) -> float | None:
    """Bundles a minute; None for an arm that did not run."""
    return None if sample is None else round(number / sample["s"] * 60, 1)


def over(one: dict[str, float], other: dict[str, float]) -> float:
    """How many times as long as another an arm took."""
    return round(one["s"] / other["s"], 2)


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)


def bench(options: argparse.Namespace) -> dict[str, Any]:
    """Open everything, run all arms, close everything."""
    with ExitStack() as stack:
        oci, docker = (Timed(make_engine(name), caps=Caps(network=False)) for name in ("oci", "docker"))
        stack.callback(docker.close)
        stack.callback(oci.close)
        disk_mb = tasks(1)[0].config.environment.storage_mb
        raw = stack.enter_context(gold_raw.opened(disk_mb, cores()))
        return Bench(options, oci, docker, raw).run()


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--bundles", type=int, default=20, help="shell tasks (default: %(default)s)")
    parser.add_argument("--pytest-bundles", type=int, default=10, help="pytest tasks (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the cheap arms (default: %(default)s)")
    parser.add_argument("--harbor", metavar="PATH", help="the harbor command; without it that arm is left out")
    parser.add_argument("--pool", type=int, metavar="N", help="verify N generated bundles instead")
    parser.add_argument("--stages", help="with --pool: which stages, separated by commas (default: all)")
    parser.add_argument("--folder", type=Path, help="with --pool: where the bundles are made and kept")
    options = parser.parse_args()
    result = gold_pool.measure(options.pool, options.stages, options.folder) if options.pool else bench(options)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for key, value in result.items():
            print(f"{key:20} {value}")


if __name__ == "__main__":
    main()
