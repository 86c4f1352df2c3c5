"""An analysis as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envs_forge.study.analysis import ALL_READERS, REFERENCE, Analysis, ArmRow, Calibration, Claim
from envs_forge.study.makeup import HIGH, LOW, Makeup
from envs_forge.study.unpaid import Unpaid
from envs_forge.train.estimators import Estimate, PairedEstimate

NOTE = (
    "The policy is the builtin reader, a log-linear model over the words of the instruction, not a language model. "
    "Held-out Pass@1 in points of 100, mean over replicates with 95 % intervals clustered by replicate; "
    f"differences are {REFERENCE} minus the arm, paired by reader and replicate."
)


def markdown(analysis: Analysis) -> str:
    """The whole analysis, a table a regime and kind of reader."""
    parts = [f"{analysis.cells} of {analysis.of_cells} cells. {NOTE}"]
    for regime in dict.fromkeys(row.regime for row in analysis.rows):
        for reader in dict.fromkeys(row.reader for row in analysis.rows if row.regime == regime):
            rows = [row for row in analysis.rows if (row.regime, row.reader) == (regime, reader)]
            title = "all readers" if reader == ALL_READERS else f"reader {reader}"
            parts.append(f"## {regime}, {title}\n\n{_arms(rows)}")
            parts += [_claim(claim) for claim in analysis.claims if (claim.regime, claim.reader) == (regime, reader)]
    for regime in dict.fromkeys(row.regime for row in analysis.unpaid):
        equal = [row for row in analysis.unpaid if row.regime == regime]
        title = f"{regime}: after {equal[0].rollouts} rollouts of training, measuring not charged"
        parts.append(f"## {title}\n\n{_unpaid(equal)}")
    for regime in dict.fromkeys(row.regime for row in analysis.makeup):
        made = [row for row in analysis.makeup if row.regime == regime]
        parts.append(f"## {regime}: what the environments were like\n\n{_makeup(made)}")
    for arm in dict.fromkeys(row.arm for row in analysis.calibration):
        by_action = [row for row in analysis.calibration if row.arm == arm]
        parts.append(f"## Predicted and measured pass rates of {arm}'s environments\n\n{_calibration(by_action)}")
    return "\n\n".join(parts) + "\n"


def _arms(rows: Sequence[ArmRow]) -> str:
    head = ("arm", "base", "trained", "gain", f"{REFERENCE} − arm", "mixed groups", "first pass", "attempts/accepted",
            "rollouts: measuring + training", "cells", "short")  # fmt: skip
    body = [
        (
            row.arm,
            f"{100 * row.base.value:.1f}",
            f"{100 * row.trained.value:.1f}",
            points(row.gain),
            _against(row.against) if row.against is not None else "",
            _percent(row.mixed_all),
            _percent(row.mixed),
            "" if row.attempts_per_accepted is None else f"{row.attempts_per_accepted:.2f}",
            f"{row.measuring:.0f} + {row.training:.0f}",
            str(row.cells),
            str(row.short or ""),
        )
        for row in sorted(rows, key=lambda row: -row.gain.value)
    ]
    return _table(head, body)


def _against(pair: PairedEstimate) -> str:
    if pair.better == pair.worse == 0:
        return "the same in all cells"
    return points(pair.difference)


def _claim(claim: Claim) -> str:
    return (
        f"{claim.arm} minus the best fixed recipe ({claim.best_fixed}): {points(claim.difference.difference)} points."
    )


def _calibration(rows: Iterable[Calibration]) -> str:
    head = ("action", "environments", "predicted", "measured", "mean absolute error", "Brier", "mixed groups")
    body = [
        (
            row.action,
            str(row.children),
            f"{row.predicted:.3f}",
            f"{row.measured:.3f}",
            f"{row.mean_absolute_error:.3f}",
            f"{row.brier:.3f}",
            f"{100 * row.mixed:.0f} %",
        )
        for row in rows
    ]
    return _table(head, body)


def _unpaid(rows: Iterable[Unpaid]) -> str:
    body = [
        (row.arm, points(row.gain), _against(row.against) if row.against is not None else "")
        for row in sorted(rows, key=lambda row: -row.gain.value)
    ]
    return _table(("arm", "gain", f"{REFERENCE} − arm"), body)


def _makeup(rows: Iterable[Makeup]) -> str:
    head = ("arm", "steps", "constraints", "pass rate", f"between {LOW} and {HIGH}", "mixed groups a cell",
            "points gained a mixed group")  # fmt: skip
    body = [
        (
            row.arm,
            _figure(row.steps, "{:.2f}"),
            _figure(row.constraints, "{:.2f}"),
            _figure(row.measured, "{:.2f}"),
            _percent(row.edge),
            f"{row.mixed_groups:.1f}",
            _figure(row.gain_per_mixed, "{:.2f}", 100),
        )
        for row in rows
    ]
    return _table(head, body)


def _figure(value: float | None, form: str, factor: float = 1.0) -> str:
    return "" if value is None else form.format(factor * value)


def points(estimate: Estimate) -> str:
    """An estimate in points of 100, e.g. `+3.1 (+1.2 to +5.0)`."""
    value, low, high = (100 * number for number in (estimate.value, estimate.low, estimate.high))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *body)]
    return "\n".join(lines)
