"""Everything that the page says of one run, read from its directory."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs_forge.bundle.finding import BundleError
from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.pool import find_bundles
from envs_forge.bundle.reading import read_bundle
from envs_forge.config import RunConfig
from envs_forge.errors import UserError
from envs_forge.ledger.records import AttemptRecord, DecisionRecord, VerdictRecord
from envs_forge.ledger.store import Ledger
from envs_forge.report.environments import Environment, environments
from envs_forge.run.directory import RunDirectory
from envs_forge.run.journal import Journal
from envs_forge.run.planning import state_of
from envs_forge.run.result import RunResult, run_result
from envs_forge.run.stored import stored_config
from envs_forge.synthesis.generator import attempt_name

MOST_EVIDENCE = 600
EXAMPLES = 2
"""Rejected attempts shown for each reason."""


@dataclass(frozen=True)
class Example:
    """One rejected attempt: what it was for, and what was found."""

    name: str
    action: str
    evidence: str


@dataclass(frozen=True)
class Reason:
    """A reason of rejections, `stage/code`, with its count and examples."""

    name: str
    count: int
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class RunReport:
    """One run."""

    name: str
    config: RunConfig
    result: RunResult
    policy: str
    policy_kind: str
    generator: str
    engine: str
    began: str
    plan: dict[str, Any] | None
    """The newest plan with its explanation; None before the first."""
    reasons: tuple[Reason, ...]
    environments: tuple[Environment, ...]


def gather(directory: RunDirectory) -> RunReport:
    """Read a run; another process may be at work on it.

    Raises:
        UserError: It has not begun, or something in it is damaged.
    """
    config = stored_config(directory)
    with Ledger.open(directory.ledger, read_only=True) as ledger:
        journal = Journal(ledger)
        first = journal.first_session()
        if first is None:
            raise UserError(f"{directory.root.name} has not begun", fix=f"envs-forge resume {directory.root}")
        lock = first.payload["lock"]
        state = state_of(journal.plans(), journal.decisions(), config.draws)
        return RunReport(
            name=directory.root.name,
            config=config,
            result=run_result(config, journal),
            policy=str(lock["policy"]["name"]),
            policy_kind=str(lock["policy"]["kind"]),
            generator=str(lock["generator"]),
            engine=str(lock["engine"]),
            began=first.at,
            plan=_plan(directory),
            reasons=_reasons(journal),
            environments=tuple(environments(state, journal, directory, _seeds(config.seeds))),
        )


def _plan(directory: RunDirectory) -> dict[str, Any] | None:
    try:
        table: dict[str, Any] = json.loads(directory.plan.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise UserError(f"{directory.plan} is damaged: {error}") from error
    return table


def _seeds(paths: Iterable[str]) -> dict[str, Bundle]:
    """The seeds that are still where they were, by content."""
    found: dict[str, Bundle] = {}
    for path in paths:
        try:
            places = find_bundles([path])
        except UserError:
            continue
        for place in places:
            try:
                bundle = read_bundle(Path(place))
            except (BundleError, UserError):
                continue
            found[content_hash(bundle)] = bundle
    return found


def _reasons(journal: Journal) -> tuple[Reason, ...]:
    attempts = {attempt.key: attempt for attempt in journal.ledger.read(AttemptRecord)}
    verdicts = {record.key[:-1]: record for record in journal.ledger.read(VerdictRecord)}
    rejected: dict[str, list[DecisionRecord]] = {}
    for decision in journal.decisions():
        if not decision.accepted:
            rejected.setdefault(f"{decision.stage}/{decision.code}", []).append(decision)
    return tuple(
        Reason(name, len(found), tuple(_example(one, attempts, verdicts) for one in found[:EXAMPLES]))
        for name, found in sorted(rejected.items(), key=lambda item: (-len(item[1]), item[0]))
    )


def _example(
    decision: DecisionRecord, attempts: dict[Any, AttemptRecord], verdicts: dict[Any, VerdictRecord]
) -> Example:
    attempt, verdict = attempts.get(decision.key), verdicts.get(decision.key)
    stages = verdict.payload.get("stages", ()) if verdict is not None else ()
    failed: dict[str, Any] = next((stage for stage in stages if stage.get("code") == decision.code), {})
    parts = [failed.get("message"), failed.get("evidence")]
    if attempt is not None and not any(parts):
        parts = [attempt.payload.get("evidence")]
    evidence = "\n".join(str(part) for part in parts if part) or json.dumps(dict(decision.payload), ensure_ascii=False)
    name = attempt_name(decision.slot, decision.plan, decision.draw, decision.repair)
    return Example(name, attempt.action if attempt is not None else "", evidence[:MOST_EVIDENCE])
