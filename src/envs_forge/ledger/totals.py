"""The figures of a run, counted from the rows, each total checked against the sum of its parts."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import InvariantError
from envs_forge.ledger.store import Ledger


class TokenTotals(BaseModel):
    """Model use of one role. `cost_usd` is None when the price of any call is not known.

    `lost` are requests that were perhaps paid and never counted: broken off, timed out, or answered without a usage.
    They took at most `lost_tokens` and `lost_usd` (None when a price is not known), which are part of no other figure.
    While a run is at work, requests under way are among them.
    """

    model_config = ConfigDict(frozen=True)

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = 0.0
    lost: int = 0
    lost_tokens: int = 0
    lost_usd: float | None = 0.0

    @property
    def tokens(self) -> int:
        """Prompt and completion together; cached and reasoning tokens are parts of those."""
        return self.prompt_tokens + self.completion_tokens


class Totals(BaseModel):
    """What a run did. `undecided` attempts were begun and neither accepted nor rejected yet."""

    model_config = ConfigDict(frozen=True)

    sessions: int
    trials: int
    counted: int
    invalid: int
    trials_by_status: Mapping[str, int]
    trials_by_purpose: Mapping[str, int] = {}
    """Rollouts on seeds and on children."""
    plans: int
    attempts: int
    repairs: int = 0
    """Attempts that repair an earlier one; part of `attempts`."""
    accepted: int
    rejected: int
    undecided: int
    rejections: Mapping[str, int]
    """Rejected attempts by `stage/code`."""
    verdicts: Mapping[str, int]
    """Gold verifications by decision, repeated ones included."""
    tokens: Mapping[str, TokenTotals]
    """Model use by role."""
    tokens_total: int
    seconds: Mapping[str, float]
    """Work done, summed over threads: trials, synthesis, verification, planning."""
    wall_seconds: Mapping[str, float]
    """What the clock said, by kind of event, summed over sessions."""


_UNDECIDED = """
    SELECT count(*) FROM attempts AS a
    WHERE NOT EXISTS (
        SELECT 1 FROM decisions AS d
        WHERE (d.slot, d.plan, d.draw, d.repair) = (a.slot, a.plan, a.draw, a.repair)
    )
"""


def totals(ledger: Ledger) -> Totals:
    """Count everything, from one moment of the ledger.

    Raises:
        InvariantError: A total is not the sum of its parts.
    """
    with ledger.frozen():
        result = _count(ledger)
        spent = _single(ledger, "SELECT total(prompt_tokens) + total(completion_tokens) FROM model_calls")
    _must_equal("trials", result.trials, counted=result.counted, invalid=result.invalid)
    _must_equal("trials", result.trials, **result.trials_by_status)
    _must_equal("trials", result.trials, **result.trials_by_purpose)
    _must_equal("attempts", result.attempts, accepted=result.accepted, rejected=result.rejected, open=result.undecided)
    _must_equal("rejected", result.rejected, **result.rejections)
    _must_equal("tokens", int(spent), **{role: used.tokens for role, used in result.tokens.items()})
    return result


def _count(ledger: Ledger) -> Totals:
    tokens = _tokens(ledger)
    return Totals(
        sessions=int(_single(ledger, "SELECT count(*) FROM sessions")),
        trials=int(_single(ledger, "SELECT count(*) FROM trials")),
        trials_by_purpose=_by(ledger, "SELECT purpose, count(*) FROM trials GROUP BY 1 ORDER BY 1"),
        counted=int(_single(ledger, "SELECT count(*) FROM trials WHERE counted")),
        invalid=int(_single(ledger, "SELECT count(*) FROM trials WHERE NOT counted")),
        trials_by_status=_by(ledger, "SELECT status, count(*) FROM trials GROUP BY 1 ORDER BY 1"),
        plans=int(_single(ledger, "SELECT count(*) FROM plans")),
        attempts=int(_single(ledger, "SELECT count(*) FROM attempts")),
        repairs=int(_single(ledger, "SELECT count(*) FROM attempts WHERE repair > 0")),
        accepted=int(_single(ledger, "SELECT count(*) FROM decisions WHERE accepted")),
        rejected=int(_single(ledger, "SELECT count(*) FROM decisions WHERE NOT accepted")),
        undecided=int(_single(ledger, _UNDECIDED)),
        rejections=_by(ledger, "SELECT stage || '/' || code, count FROM rejections ORDER BY 1"),
        verdicts=_by(ledger, "SELECT decision, count(*) FROM verdicts GROUP BY 1 ORDER BY 1"),
        tokens=tokens,
        tokens_total=sum(used.tokens for used in tokens.values()),
        seconds={
            "trials": _single(ledger, "SELECT total(duration_s) FROM trials"),
            "planning": _single(ledger, "SELECT total(duration_s) FROM plans"),
            "synthesis": _single(ledger, "SELECT total(duration_s) FROM attempts"),
            "verification": _single(ledger, "SELECT total(duration_s) FROM verdicts"),
        },
        wall_seconds=_seconds(ledger),
    )


def _tokens(ledger: Ledger) -> dict[str, TokenTotals]:
    rows = ledger.query(
        "SELECT role, sum(calls) AS calls, sum(prompt_tokens) AS prompt_tokens, sum(cached_tokens) AS cached_tokens,"
        " sum(completion_tokens) AS completion_tokens, sum(reasoning_tokens) AS reasoning_tokens,"
        " CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) END AS cost_usd"
        " FROM tokens GROUP BY role ORDER BY role"
    )
    found = {row.pop("role"): TokenTotals.model_validate(row) for row in rows}
    lost = ledger.query(
        "SELECT role, count(*) AS lost, sum(prompt_tokens + completion_tokens) AS lost_tokens,"
        " CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) END AS lost_usd"
        " FROM lost_requests GROUP BY role ORDER BY role"
    )
    for row in lost:
        role = row.pop("role")
        found[role] = found.get(role, TokenTotals()).model_copy(update=row)
    return found


def _single(ledger: Ledger, sql: str) -> float:
    (row,) = ledger.query(sql)
    (value,) = row.values()
    return float(value)


def _by(ledger: Ledger, sql: str) -> dict[str, int]:
    return dict(tuple(row.values()) for row in ledger.query(sql))


def _seconds(ledger: Ledger) -> dict[str, float]:
    rows = ledger.query("SELECT kind, total(duration_s) AS s FROM events GROUP BY kind HAVING s > 0 ORDER BY kind")
    return {row["kind"]: row["s"] for row in rows}


def _must_equal(name: str, total: int, /, **parts: int) -> None:
    if total != sum(parts.values()):
        listed = " + ".join(f"{part} {count}" for part, count in parts.items()) or "nothing"
        raise InvariantError(f"the ledger's total of {name} is {total}, its parts are {listed} = {sum(parts.values())}")
