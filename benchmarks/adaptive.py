"""What adaptive rollouts save, where the truth is known.

A pool of seeds with true pass rates is measured with n rollouts of each, or adaptively with a share of what 8 of each
would cost. The plan takes each seed's best action by E[F] and the N best seeds, which is what the planner does without
quotas; its value is the mean true F of what it chose. All arms see the same rollouts. Pools:

    uniform    pass rates spread evenly over [0, 1]
    ushape     Beta(½, ½): many near 0 and 1
    hard       Beta(0.3, 1.2): most near 0
    logit      logistic of a normal (0.5, 3): as `logit` in a model of skills that must all succeed
    saturated  nine of ten seeds at exactly 0 or 1, the rest spread evenly

`reaches` says whether the value at 60 % of the rollouts of fixed 8 is at least that of fixed 8 (within one standard
error of the paired difference), `share` the least share tried that does. Run: python benchmarks/adaptive.py --json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from envs_forge.plan.frontier import frontier_score, predict, scores
from envs_forge.plan.settings import FrontierConfig, Scoring
from envs_forge.rollout.adaptive.allocate import Allocator, Standing
from envs_forge.rollout.adaptive.options import AdaptiveOptions

FIXED = 8
SHARES = (0.45, 0.5, 0.6, 0.8, 1.0)
GOAL = 0.6
FRONTIER = FrontierConfig()

Array = NDArray[np.float64]


def _saturated(dice: np.random.Generator, size: int) -> Array:
    ends = (dice.random(size) < 0.5).astype(np.float64)
    return np.where(dice.random(size) < 0.9, ends, dice.random(size))


POOLS: Mapping[str, Callable[[np.random.Generator, int], Array]] = {
    "uniform": lambda dice, size: dice.random(size),
    "ushape": lambda dice, size: dice.beta(0.5, 0.5, size),
    "hard": lambda dice, size: dice.beta(0.3, 1.2, size),
    "logit": lambda dice, size: 1 / (1 + np.exp(-dice.normal(0.5, 3, size))),
    "saturated": _saturated,
}


class World:
    """One pool with its rollouts drawn in advance.

    Args:
        truth: (S,) true pass rates.
        dice: Draws the rollouts.
        cap: Most rollouts of one seed.
        chosen: N.
    """

    def __init__(self, truth: Array, dice: np.random.Generator, cap: int, chosen: int) -> None:
        self.size, self.cap, self.chosen = truth.size, cap, chosen
        self._true_scores = frontier_score(predict(truth, FRONTIER), FRONTIER)
        drawn = dice.random((truth.size, cap)) < truth[:, None]
        self._passed = np.concatenate([np.zeros((truth.size, 1)), np.cumsum(drawn, axis=1)], axis=1)

    def passed(self, n: NDArray[np.int64]) -> Array:
        """Sums of rewards of the first n rollouts of each seed."""
        return np.asarray(self._passed[np.arange(self.size), n])

    def value(self, n: NDArray[np.int64]) -> float:
        """Mean true F of the plan that n rollouts of each seed lead to."""
        seen = scores(self.passed(n), n.astype(np.float64), FRONTIER, Scoring.POSTERIOR)
        action = seen.argmax(axis=1)
        chosen = np.argsort(-seen.max(axis=1), kind="stable")[: self.chosen]
        return float(self._true_scores[chosen, action[chosen]].mean())


def adaptive(world: World, options: AdaptiveOptions) -> NDArray[np.int64]:
    """Rollouts of each seed."""
    allocator = Allocator(options)
    n = np.full(world.size, options.start, dtype=np.int64)
    while True:
        passed = world.passed(n)
        standings = [Standing(f"{row:06d}", float(passed[row]), int(n[row]), int(n[row])) for row in range(world.size)]
        more = np.array(allocator.further(standings), dtype=np.int64)
        if not more.any():
            return n
        n = n + more


def simulate(pool: str, size: int, chosen: int, repeats: int, start: int, cap: int, delta: float) -> dict[str, object]:
    """One pool, many times; values of fixed and adaptive arms, paired differences to fixed 8."""
    values: dict[str, list[float]] = {}
    spent: dict[str, list[float]] = {}
    for number in range(repeats):
        dice = np.random.default_rng([number, size, chosen])
        world = World(POOLS[pool](dice, size), dice, max(cap, 2 * FIXED), chosen)
        for n in (4, FIXED, 2 * FIXED):
            values.setdefault(f"fixed {n}", []).append(world.value(np.full(size, n)))
        for share in SHARES:
            budget = int(share * FIXED * size)
            options = AdaptiveOptions(start=start, cap=cap, budget=budget, delta=delta, size=chosen, frontier=FRONTIER)
            n_of = adaptive(world, options)
            values.setdefault(f"adaptive {share:g}", []).append(world.value(n_of))
            spent.setdefault(f"adaptive {share:g}", []).append(float(n_of.sum()) / (FIXED * size))
    return _row(pool, size, chosen, values, spent)


def _row(
    pool: str, size: int, chosen: int, values: Mapping[str, list[float]], spent: Mapping[str, list[float]]
) -> dict[str, object]:
    base = np.array(values[f"fixed {FIXED}"])
    arms: dict[str, dict[str, float]] = {}
    share_needed: float | None = None
    for arm, found in values.items():
        difference = np.array(found) - base
        error = float(difference.std(ddof=1) / np.sqrt(difference.size)) if difference.size > 1 else 0.0
        arms[arm] = {
            "value": round(float(np.mean(found)), 4),
            "difference": round(float(difference.mean()), 4),
            "standard_error": round(error, 4),
        }
        if arm in spent:
            arms[arm]["share"] = round(float(np.mean(spent[arm])), 3)
            if share_needed is None and difference.mean() >= -error:
                share_needed = arms[arm]["share"]
    goal = arms[f"adaptive {GOAL:g}"]
    reaches = goal["difference"] >= -goal["standard_error"]
    return {"pool": pool, "seeds": size, "n": chosen, "reaches": reaches, "share": share_needed, "arms": arms}


def main() -> None:
    """Parse the command line, simulate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--pool", action="append", choices=list(POOLS), help="only this kind of pool; repeatable")
    parser.add_argument("--repeats", type=int, default=10, help="pools of each kind (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=200, help="seeds of a pool (default: %(default)s)")
    parser.add_argument("--start", type=int, default=AdaptiveOptions(budget=1).start, help="(default: %(default)s)")
    parser.add_argument("--cap", type=int, default=AdaptiveOptions(budget=1).cap, help="(default: %(default)s)")
    parser.add_argument("--delta", type=float, default=AdaptiveOptions(budget=1).delta, help="(default: %(default)s)")
    options = parser.parse_args()
    began = time.perf_counter()
    rows = []
    for pool in options.pool or POOLS:
        for part in (20, 10, 4, 1):
            chosen = options.seeds // part
            rows.append(
                simulate(pool, options.seeds, chosen, options.repeats, options.start, options.cap, options.delta)
            )
            print(f"{pool}: {chosen} of {options.seeds}", file=sys.stderr)
    seconds = round(time.perf_counter() - began, 1)
    settings = {"start": options.start, "cap": options.cap, "delta": options.delta, "repeats": options.repeats}
    if options.json:
        print(json.dumps({"fixed": FIXED, "goal": GOAL, **settings, "seconds": seconds, "rows": rows}, indent=2))
        return
    for row in rows:
        arms = row["arms"]
        assert isinstance(arms, dict)
        goal, fixed = arms[f"adaptive {GOAL:g}"], arms[f"fixed {FIXED}"]
        change = f"{goal['difference']:+.3f} ± {goal['standard_error']:.3f}"
        print(f"{row['pool']:10} N={row['n']:<4} fixed {FIXED} {fixed['value']:.3f}  ", end="")
        print(f"adaptive at {goal['share']:.2f} {goal['value']:.3f} ({change})  share needed {row['share']}")
    print(f"{seconds} s")


if __name__ == "__main__":
    main()
