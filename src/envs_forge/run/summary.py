"""What synthesis cost and where its attempts went, from the ledger; every total is checked against its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import InvariantError
from envs_forge.ledger.records import AttemptRecord, DecisionRecord, ModelCallRecord
from envs_forge.ledger.totals import Totals
from envs_forge.run.journal import Journal
from envs_forge.synthesis.generator import attempt_name

ROLES = ("generator", "judge", "digest")


class FunnelRow(BaseModel):
    """Attempts of one action, and what became of them. `tokens` and `usd` are those of the calls that were counted."""

    model_config = ConfigDict(frozen=True)

    recipe: str
    action: str
    attempts: int
    repairs: int
    accepted: int
    mended: int
    """Accepted ones that were repairs."""
    open: int
    tokens: int
    usd: float | None
    rejections: Mapping[str, int]

    @property
    def attempts_per_accepted(self) -> float | None:
        """None where nothing is accepted."""
        return self.attempts / self.accepted if self.accepted else None


class SynthesisSummary(BaseModel):
    """All of synthesis in figures. Ratios are None where they would divide by 0."""

    model_config = ConfigDict(frozen=True)

    records: int = 0
    """Accepted environments."""
    attempts: int = 0
    attempts_per_accepted: float | None = None
    tokens: int = 0
    tokens_per_attempt: float | None = None
    tokens_per_accepted: float | None = None
    usd: float | None = 0.0
    lost: int = 0
    """Requests that were perhaps paid and never counted; see `TokenTotals`."""
    lost_tokens: int = 0
    lost_usd: float | None = 0.0
    stopped_by: str = ""
    """The cap that ended the newest session, where one did and the run is not done."""
    rows: tuple[FunnelRow, ...] = ()


def summary(journal: Journal, totals: Totals, *, done: bool = False) -> SynthesisSummary:
    """Count everything. `done`: the run has all that was asked for.

    Raises:
        InvariantError: The parts do not add up to the totals.
    """
    rows = tuple(_rows(journal))
    roles = [totals.tokens[role] for role in ROLES if role in totals.tokens]
    prices = [used.cost_usd for used in roles]
    losses = [used.lost_usd for used in roles]
    tokens = sum(used.tokens for used in roles)
    _must_add_up("attempts", totals.attempts, [row.attempts for row in rows])
    _must_add_up("accepted", totals.accepted, [row.accepted for row in rows])
    _must_add_up("rejected", totals.rejected, [sum(row.rejections.values()) for row in rows])
    _must_add_up("attempts", totals.attempts, [totals.accepted, totals.rejected, sum(row.open for row in rows)])
    _must_add_up("tokens", tokens, [row.tokens for row in rows] + [waiting_tokens(journal, *ROLES)])
    events = [] if done else journal.last_events("budget")
    return SynthesisSummary(
        records=totals.accepted,
        attempts=totals.attempts,
        attempts_per_accepted=_ratio(totals.attempts, totals.accepted),
        tokens=tokens,
        tokens_per_attempt=_ratio(tokens, totals.attempts),
        tokens_per_accepted=_ratio(tokens, totals.accepted),
        usd=None if None in prices else sum(price or 0.0 for price in prices),
        lost_usd=None if None in losses else sum(loss or 0.0 for loss in losses),
        lost=sum(used.lost for used in roles),
        lost_tokens=sum(used.lost_tokens for used in roles),
        stopped_by=str(events[-1].payload.get("reached", "")) if events else "",
        rows=rows,
    )


def _rows(journal: Journal) -> list[FunnelRow]:
    attempts = journal.ledger.read(AttemptRecord)
    decisions = {decision.key: decision for decision in journal.decisions()}
    calls = _calls(journal)
    groups: dict[tuple[str, str], list[AttemptRecord]] = {}
    for attempt in attempts:
        recipe = str(attempt.payload.get("assignment", {}).get("recipe", ""))
        groups.setdefault((recipe, attempt.action), []).append(attempt)
    return [_row(*key, own, decisions, calls) for key, own in sorted(groups.items())]


def _row(
    recipe: str,
    action: str,
    attempts: Sequence[AttemptRecord],
    decisions: Mapping[tuple[object, ...], DecisionRecord],
    calls: Mapping[str, Sequence[ModelCallRecord]],
) -> FunnelRow:
    found = [decisions.get(attempt.key) for attempt in attempts]
    made = [decision for decision in found if decision is not None]
    paid = [call for attempt in attempts for call in calls.get(_name(attempt), ())]
    prices = [call.cost_usd for call in paid]
    return FunnelRow(
        recipe=recipe,
        action=action,
        attempts=len(attempts),
        repairs=sum(attempt.repair > 0 for attempt in attempts),
        accepted=sum(decision.accepted for decision in made),
        mended=sum(decision.accepted and decision.repair > 0 for decision in made),
        open=found.count(None),
        tokens=sum(call.prompt_tokens + call.completion_tokens for call in paid),
        usd=None if None in prices else sum(price or 0.0 for price in prices),
        rejections=dict(sorted(Counter(f"{d.stage}/{d.code}" for d in made if not d.accepted).items())),
    )


def _calls(journal: Journal) -> dict[str, list[ModelCallRecord]]:
    found: dict[str, list[ModelCallRecord]] = {}
    for role in ROLES:
        for call in journal.ledger.read(ModelCallRecord, role=role):
            found.setdefault(call.subject, []).append(call)
    return found


def waiting_tokens(journal: Journal, *roles: str) -> int:
    """Tokens of answers that came and were not made into an attempt before the process ended."""
    names = {_name(attempt) for attempt in journal.ledger.read(AttemptRecord)}
    return sum(
        call.prompt_tokens + call.completion_tokens
        for subject, calls in _calls(journal).items()
        if subject not in names
        for call in calls
        if call.role in roles
    )


def _name(attempt: AttemptRecord) -> str:
    return attempt_name(attempt.slot, attempt.plan, attempt.draw, attempt.repair)


def _ratio(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def _must_add_up(name: str, total: int, parts: Sequence[int]) -> None:
    if total != sum(parts):
        shown = " + ".join(map(str, parts)) or "nothing"
        raise InvariantError(f"synthesis: the total of {name} is {total}, its parts are {shown} = {sum(parts)}")
