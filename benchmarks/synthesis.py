"""All four recipes on the same seeds, to the same N, with the scripted model of the tests as generator.

The model answers well, subtly badly or not at all, in shares that the options set; so the figures show what the loop
makes of such a model, not how good any model is. Seeds are measured once, by the builtin policy. Every run is checked:
exactly N accepted, none of them one that the script knows to be bad, every rejection for one of the reasons that the
script expects, totals that are the sums of their parts.

Run as root on Linux or with Docker: python benchmarks/synthesis.py --json
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from synthesis.scripted.model import Mix
from synthesis.scripted.runs import check, copy_pool, finish, scripted

RECIPES = ("few-shot", "self-instruct", "evol-instruct", "forge")
COLUMNS = ("records", "attempts", "attempts_per_accepted", "tokens_per_attempt", "tokens_per_accepted", "mended")


def compare(here: Path, seeds: Sequence[int], size: int, mix: Mix) -> list[dict[str, Any]]:
    """One row a recipe."""
    pool = copy_pool(here, seeds)
    rows, rates = [], ""
    for recipe in RECIPES:
        place = here / recipe
        place.mkdir()
        with scripted(place, pool, size=size, top=rates, plan=f'recipe = "{recipe}"', mix=mix) as this:
            began = time.monotonic()
            result = finish(this.begin())
            check(this, result, size)
        rates = rates or f'pass_rates = "{place / "mine"}"'
        rows.append(row(recipe, result, time.monotonic() - began))
    return rows


def row(recipe: str, result: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The figures of one run."""
    told = result["synthesis"]
    return {
        "recipe": recipe,
        "records": told["records"],
        "attempts": told["attempts"],
        "attempts_per_accepted": told["attempts_per_accepted"],
        "tokens_per_attempt": told["tokens_per_attempt"],
        "tokens_per_accepted": told["tokens_per_accepted"],
        "mended": sum(part["mended"] for part in told["rows"]),
        "lost_calls": told["lost"],
        "usd": told["usd"],
        "rejections": dict(sorted(result["rejections"].items())),
        "seconds": round(seconds, 1),
    }


def show(rows: Sequence[dict[str, Any]]) -> None:
    """The table for people."""
    print("  ".join(f"{name:>21}" for name in ("recipe", *COLUMNS)))
    for one in rows:
        print("  ".join([f"{one['recipe']:>21}", *(f"{one[name]:>21.6g}" for name in COLUMNS)]))
    for one in rows:
        print(f"{one['recipe']}: " + ", ".join(f"{reason} {count}" for reason, count in one["rejections"].items()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all four and print."""
    parser = argparse.ArgumentParser(description="Compare the recipes with a scripted model.")
    parser.add_argument("--seeds", type=int, default=30, help="how many of the bundled seeds [30]")
    parser.add_argument("--size", type=int, default=16, help="N of each run [16]")
    parser.add_argument("--good", type=float, default=0.45, help="share of sound first answers [0.45]")
    parser.add_argument("--bad", type=float, default=0.35, help="share of subtly bad ones; the rest is broken [0.35]")
    parser.add_argument("--mends", type=float, default=0.6, help="share of repairs that are sound [0.6]")
    parser.add_argument("--mix", type=int, default=1, help="number of the mix [1]")
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args(arguments)
    mix = Mix(good=asked.good, bad=asked.bad, mends=asked.mends, seed=asked.mix)
    with tempfile.TemporaryDirectory() as there:
        rows = compare(Path(there), range(asked.seeds), asked.size, mix)
    if asked.json:
        print(json.dumps({"seeds": asked.seeds, "size": asked.size, "mix": vars(mix), "recipes": rows}, indent=2))
    else:
        show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
