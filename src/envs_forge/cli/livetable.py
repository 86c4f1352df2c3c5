"""The live table of a terminal while seeds are measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from envs_forge.cli.console import printable
from envs_forge.run.progress import Phase, Progress, SeedProgress

_ORDER = {"measuring": 0, "waiting": 1, "measured": 2}


def k_of_n(k: float, n: int) -> str:
    """Rewards over rollouts, e.g. `3/4` or `2.5/4`."""
    return f"{k:g}/{n}"


def live_rows(progress: Progress) -> Callable[[int, int], Sequence[str]]:
    """Rows of the live table while seeds are measured: those under way first, as many as the terminal has lines for."""

    def rows(columns: int, lines: int) -> Sequence[str]:
        if progress.phase is not Phase.MEASURING:
            return ()
        seeds = sorted(progress.seeds(), key=lambda seed: _ORDER[seed.state])
        fitting = max(0, min(len(seeds), lines - 2))
        width = max([4, *(len(seed.name) for seed in seeds[:fitting])])
        width = min(width, max(4, columns - 40))
        heading = f"{'seed':{width}}  {'k/n':>7}  {'95 % interval':13}  status"
        more = [f"and {len(seeds) - fitting} more"] if len(seeds) > fitting else []
        return [heading, *(_live_row(seed, width) for seed in seeds[:fitting]), *more] if fitting else ()

    return rows


def _live_row(seed: SeedProgress, width: int) -> str:
    limits = interval(seed.k, seed.n) if seed.n else ""
    state = seed.state if seed.state != "measuring" else f"{seed.n} of {seed.asked}"
    spoiled = f", {seed.spoiled} not counted" if seed.spoiled else ""
    name = printable(seed.name)[:width]
    return f"{name:{width}}  {k_of_n(seed.k, seed.n):>7}  {limits:13}  {state}{spoiled}, last {seed.last or 'none'}"


@lru_cache(maxsize=4096)
def interval(k: float, n: int) -> str:
    """The 95 % interval of a rate, e.g. `0.07 to 0.65`."""
    from envs_forge.rollout.passrate import jeffreys_interval

    return "{:.2f} to {:.2f}".format(*jeffreys_interval(k, n))
