"""What came of a run, worked out again from its ledger each time it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from envs_forge.config import RunConfig
from envs_forge.errors import InvariantError
from envs_forge.gold.verdict import Decision
from envs_forge.ledger.records import VerdictRecord
from envs_forge.ledger.totals import Totals, totals
from envs_forge.run.exporting import environment_id, exported_count
from envs_forge.run.journal import Journal
from envs_forge.run.planning import State, state_of
from envs_forge.run.summary import SynthesisSummary, summary, waiting_tokens

State_ = Literal["done", "short", "open"]


class SeedRow(BaseModel):
    """A measured seed. `rate` is None where no rollout counted."""

    model_config = ConfigDict(frozen=True)

    id: str
    k: float
    n: int
    invalid: int
    rate: float | None


class EnvironmentRow(BaseModel):
    """An accepted environment and where it came from."""

    model_config = ConfigDict(frozen=True)

    id: str
    seed: str
    k: float
    n: int
    action: str
    predicted: float
    frontier_score: float
    content_hash: str
    draws: int
    """Draws that its place took."""
    repairs: int = 0
    """Repairs that the accepted draw took."""
    measured_k: float | None = None
    """Rewards of the policy on the environment itself, where it was measured again."""
    measured_n: int | None = None
    """Rollouts of that measurement."""


class RunResult(BaseModel):
    """The figures of a run.

    `state` is `done` when what was asked for is there, `short` when the run ended without it, else `open`:
    interrupted, failed, killed or still at work.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    goal: str
    state: State_
    requested: int
    accepted: int
    exported: int
    verified: int
    """Gold candidates, those among them that are not decided on yet; the accepted ones to be when a run goes on."""
    seeds: tuple[SeedRow, ...]
    environments: tuple[EnvironmentRow, ...]
    rejections: Mapping[str, int]
    synthesis: SynthesisSummary = SynthesisSummary()
    """What synthesis cost and where its attempts went."""
    totals: Totals


def run_result(config: RunConfig, journal: Journal) -> RunResult:
    """Count everything.

    Raises:
        InvariantError: A total is not the sum of its parts.
    """
    figures = totals(journal.ledger)
    state = state_of(journal.plans(), journal.decisions(), config.draws)
    reached = _state(config, journal, figures, state)
    if len(state.accepted) != figures.accepted:
        raise InvariantError(f"{figures.accepted} decisions accept, {len(state.accepted)} places are filled")
    _check_tokens(journal, figures)
    return RunResult(
        goal=config.goal,
        state=reached,
        requested=config.plan.size if config.goal == "environments" else 0,
        accepted=figures.accepted,
        exported=exported_count(journal),
        verified=figures.accepted + _waiting(journal),
        seeds=_seeds(journal),
        environments=tuple(_row(state, slot) for slot in sorted(state.accepted)),
        rejections=figures.rejections,
        synthesis=summary(journal, figures, done=reached == "done"),
        totals=figures,
    )


def _state(config: RunConfig, journal: Journal, figures: Totals, state: State) -> State_:
    if config.goal == "pass-rates":
        return "done" if journal.events("measured") else "open"
    if figures.accepted == config.plan.size and exported_count(journal) == config.plan.size:
        return "done"
    return "short" if journal.last_events("short") else "open"


def _waiting(journal: Journal) -> int:
    """Accepted verdicts whose draws are not decided."""
    decided = {decision.key for decision in journal.decisions()}
    accepted = journal.ledger.read(VerdictRecord, decision=Decision.ACCEPTED.value)
    return len({(record.slot, record.plan, record.draw, record.repair) for record in accepted} - decided)


def _seeds(journal: Journal) -> tuple[SeedRow, ...]:
    rows = journal.ledger.query("SELECT bundle_id, k, n, invalid, rate FROM pass_rates ORDER BY bundle_id")
    return tuple(SeedRow(id=row.pop("bundle_id"), **row) for row in rows)


def _row(state: State, slot: int) -> EnvironmentRow:
    draw, decision = state.accepted[slot]
    return EnvironmentRow(
        id=environment_id(draw),
        seed=draw.choice.seed_id,
        k=draw.choice.k,
        n=draw.choice.n,
        action=str(draw.choice.action),
        predicted=draw.choice.predicted,
        frontier_score=draw.choice.frontier_score,
        content_hash=decision.content_hash or "",
        draws=draw.number + 1,
        repairs=draw.repair,
        measured_k=decision.payload.get("k"),
        measured_n=decision.payload.get("n"),
    )


_VALUE = "json_extract(payload, '{}.{}')"


def _check_tokens(journal: Journal, figures: Totals) -> None:
    """The tokens that the calls add up to must be those that rollouts and candidates report themselves.

    Answers that came and were not made into an attempt yet are in the calls alone.
    """
    waiting = waiting_tokens(journal, "generator")
    for role, table, path, more in (("policy", "trials", "$.attempt", 0), ("generator", "attempts", "$", waiting)):
        # Where not every call was counted, the whole is unknown and `usage` has the part that is not.
        counts = " + ".join(
            f"total(coalesce({_VALUE.format(path, name)}, {_VALUE.format(path + '.extra.usage', name)}))"
            for name in ("prompt_tokens", "completion_tokens")
        )
        # What earlier runs paid for is no part of this one's calls.
        own = "coalesce(json_extract(payload, '$.reused_from'), '') = ''"
        (row,) = journal.ledger.query(f"SELECT {counts} AS tokens FROM {table} WHERE {own}")
        calls = figures.tokens[role].tokens if role in figures.tokens else 0
        if calls != int(row["tokens"]) + more:
            raise InvariantError(f"the {role}'s calls add up to {calls} tokens, its {table} to {int(row['tokens'])}")
