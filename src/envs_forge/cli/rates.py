"""Measured pass rates for people: a table, a histogram, what counts, and the next command."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from envs_forge.cli.conduct import shown
from envs_forge.cli.console import say, show_json, show_table
from envs_forge.cli.livetable import interval, k_of_n
from envs_forge.run.directory import RunDirectory
from envs_forge.run.result import RunResult

_BINS = 10
_BAR = 40


def show_rates(directory: RunDirectory, result: RunResult, *, json_: bool) -> None:
    """Measured pass rates, how they are spread, what counts, and the next command."""
    document = json.loads(directory.pass_rates.read_bytes())
    if json_:
        show_json({"run": str(directory.root), "state": result.state, **document})
        return
    rows = document["pass_rates"]
    cells = [_cells(row) for row in rows]
    cells += [(name, "0/0", "–", "", f"{spoiled} not counted") for name, spoiled in document["unmeasured"].items()]
    show_table(("seed", "k/n", "rate", "95 % interval", "remarks"), cells, right=(1, 2))
    say()
    for line in histogram([row["pass_rate"] for row in rows]):
        say(line)
    say()
    if verifier := document["policy"]["settings"].get("verifier"):
        say(f"judged by {verifier}: not to be counted together with rates of other policies")
    say(f"n counts: {', '.join(status for status, counts in document['counted'].items() if counts)}")
    for line in _totals(result, rows):
        say(line)
    say(f"results: {shown(directory.pass_rates)}, rollouts in {shown(directory.jobs)}")
    if result.state == "open":
        say(f"{document['missing']} rollouts are missing, the machine or an endpoint spoilt them each time")
        say(f"continue with: envs-forge resume {shown(directory.root)}")
    else:
        say(f"next: envs-forge plan --pass-rates {shown(directory.pass_rates)}")


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    remarks = [
        f"{row[key]} {what}"
        for key, what in (("invalid", "not counted"), ("reused", "reused"), ("missing", "missing"))
        if row.get(key)
    ]
    k, n = row["k"], row["n"]
    return row["id"], k_of_n(k, n), f"{row['pass_rate']:.3f}", interval(k, n), ", ".join(remarks)


def _totals(result: RunResult, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rollouts came to, by status, and how many of them earlier runs had paid for."""
    statuses = ", ".join(f"{count} {status}" for status, count in result.totals.trials_by_status.items())
    lines = [f"rollouts: {statuses or 'none'}"]
    reused = sum(row.get("reused", 0) for row in rows)
    return [*lines, f"{reused} of them are from earlier runs (--fresh runs them again)"] if reused else lines


def histogram(rates: Sequence[float]) -> list[str]:
    """How many rates are 0, between, and 1, as bars; exact 0 and 1 have bars of their own: nothing is learnt there."""
    if not rates:
        return []
    counts = Counter(_bin(rate) for rate in rates)
    tallest = max(counts.values())
    mark = "█" if (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" else "#"
    labels = {-1: "0", _BINS: "1", **{i: f"{i / _BINS:.1f} to {(i + 1) / _BINS:.1f}" for i in range(_BINS)}}
    lines = [f"pass rates of {len(rates)} tasks"]
    for place in range(-1, _BINS + 1):
        bar = mark * max(1, round(_BAR * counts[place] / tallest)) if counts[place] else ""
        lines.append(f"{labels[place]:>10} {bar} {counts[place] or ''}".rstrip())
    return lines


def _bin(rate: float) -> int:
    if rate in (0.0, 1.0):
        return -1 if rate == 0.0 else _BINS
    return min(_BINS - 1, int(rate * _BINS))
