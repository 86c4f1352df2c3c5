"""Writes what the stages made into the ledger and reads it back as the models that the stages speak.

The ledger knows rows, the stages know trials, plans, candidates and verdicts; this is the one place that knows both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from envs_forge import __version__
from envs_forge.gold.verdict import Decision, Verdict
from envs_forge.ledger.records import (
    AttemptRecord,
    DecisionRecord,
    EventRecord,
    ModelCallRecord,
    PlanRecord,
    Record,
    SessionRecord,
    TrialRecord,
    VerdictRecord,
)
from envs_forge.ledger.store import Ledger
from envs_forge.plan.model import Plan
from envs_forge.rollout.identity import policy_key
from envs_forge.rollout.policy import Attempt
from envs_forge.rollout.trial import Trial
from envs_forge.run.place import Draw, Made, NumberedPlan, Place

SEED, CHILD = "seed", "child"


class Journal:
    """The records of one run. Any number of threads may use one object.

    Args:
        ledger: Where the records are.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._session = len(ledger.read(SessionRecord))

    def begin(self, command: str, config: Mapping[str, Any], lock: Mapping[str, Any]) -> int:
        """Start a session and return its number, from 1."""
        payload = {"command": command, "config": config, "lock": lock}
        self.ledger.append(SessionRecord(number=self._session + 1, version=__version__, payload=payload))
        self._session += 1
        return self._session

    def first_session(self) -> SessionRecord | None:
        """The session that began the run."""
        found = self.ledger.read(SessionRecord, number=1)
        return found[0] if found else None

    def event(self, kind: str, subject: str = "", *, seconds: float = 0.0, **payload: Any) -> None:
        """Note something that this session did or met."""
        self.ledger.append(
            EventRecord(session=self._session, kind=kind, subject=subject, duration_s=seconds, payload=payload)
        )

    def events(self, kind: str) -> list[EventRecord]:
        """All events of a kind, of all sessions."""
        return self.ledger.read(EventRecord, kind=kind)

    def last_events(self, kind: str) -> list[EventRecord]:
        """Those of the newest session that worked on the run; exporting what there is leaves a run as it was."""
        working = [record.number for record in self.ledger.read(SessionRecord) if record.payload["command"] != "export"]
        return self.ledger.read(EventRecord, kind=kind, session=working[-1]) if working else []

    def add_trial(self, trial: Trial, *, purpose: str = SEED) -> None:
        """Record a rollout, and what its model cost unless an earlier run paid for it.

        `purpose` is `seed`, or `child` for one on a candidate.
        """
        policy = policy_key(trial.policy)
        record = TrialRecord(
            bundle_hash=trial.bundle_hash,
            policy=policy,
            number=trial.index,
            retry=trial.retry,
            bundle_id=trial.bundle_id,
            status=trial.status.value,
            counted=trial.counted,
            reward=trial.reward,
            duration_s=0.0 if trial.reused_from else trial.duration_s,
            payload=_json(trial),
            purpose=purpose,
        )
        subject = f"{trial.bundle_hash}/{policy}/{trial.index}/{trial.retry}"
        attempt = trial.attempt
        calls = (
            []
            if attempt is None or trial.reused_from
            else _calls("policy", subject, trial.policy.name, attempt, trial.duration_s)
        )
        self.ledger.append(record, *calls)

    def trials(self) -> list[Trial]:
        """All rollouts on seeds, in the order in which they ended."""
        return [Trial.model_validate(record.payload) for record in self.ledger.read(TrialRecord, purpose=SEED)]

    def child_trials(self, content_hash: str) -> list[Trial]:
        """All rollouts on the candidate of this content, in the order in which they ended."""
        found = self.ledger.read(TrialRecord, purpose=CHILD, bundle_hash=content_hash)
        return [Trial.model_validate(record.payload) for record in found]

    def add_plan(self, number: int, plan: Plan, slots: Mapping[int, int]) -> None:
        """Record a plan. `slots` maps each open place to the index of its choice in the plan."""
        self.ledger.append(
            PlanRecord(
                number=number,
                size=plan.size,
                fixed=sum(choice.fixed for choice in plan.choices),
                recipe=str(plan.recipe),
                objective=plan.objective,
                duration_s=plan.seconds,
                payload={"plan": _json(plan), "slots": {str(slot): index for slot, index in slots.items()}},
            )
        )

    def plans(self) -> list[NumberedPlan]:
        """All plans, oldest first."""
        return [
            NumberedPlan(
                number=record.number,
                plan=Plan.model_validate(record.payload["plan"]),
                slots={int(slot): index for slot, index in record.payload["slots"].items()},
            )
            for record in self.ledger.read(PlanRecord)
        ]

    def add_made(self, draw: Draw, made: Made) -> None:
        """Record what a generator answered and, where no desk did so before, what its model cost."""
        record = AttemptRecord(
            **draw.key,
            seed_hash=draw.choice.seed_hash,
            action=str(draw.choice.action),
            candidate=made.candidate,
            content_hash=made.content_hash,
            code=made.code,
            duration_s=made.seconds,
            payload=_json(made),
        )
        calls = [] if self.paid(draw) else _calls("generator", draw.name, made.generator, made, made.seconds)
        self.ledger.append(record, *calls)

    def paid(self, draw: Draw) -> dict[str, int]:
        """Tokens that a desk paid for a generator's answer at a draw; empty where none did."""
        calls = self.ledger.read(ModelCallRecord, role="generator", subject=draw.name)
        if not calls:
            return {}
        return {name: sum(getattr(call, name) for call in calls) for name in ("prompt_tokens", "completion_tokens")}

    def made(self, draw: Draw) -> Made | None:
        """What a generator answered at a draw, or None when it was not asked."""
        found = self.ledger.read(AttemptRecord, **draw.key)
        return Made.model_validate(found[0].payload) if found else None

    def add_verdict(self, draw: Draw, verdict: Verdict) -> None:
        """Record a gold verification; a second one of a draw is a retry."""
        self.ledger.append(
            VerdictRecord(
                **draw.key,
                retry=len(self.ledger.read(VerdictRecord, **draw.key)),
                bundle_hash=verdict.bundle_hash,
                decision=verdict.decision.value,
                stage=verdict.stage,
                code=verdict.code,
                duration_s=verdict.duration_s,
                payload=_json(verdict),
            )
        )

    def verdict(self, draw: Draw) -> Verdict | None:
        """The newest verdict on a draw that is no machine's fault, or None."""
        verdicts = [Verdict.model_validate(r.payload) for r in self.ledger.read(VerdictRecord, **draw.key)]
        found = [verdict for verdict in verdicts if verdict.decision is not Decision.ERROR]
        return found[-1] if found else None

    def accept(self, draw: Draw, content_hash: str, **payload: Any) -> None:
        """Decide that a draw's candidate fills its place."""
        self.ledger.append(DecisionRecord(**draw.key, accepted=True, content_hash=content_hash, payload=payload))

    def reject(self, draw: Draw, stage: str, code: str, content_hash: str | None, **payload: Any) -> None:
        """Decide that a draw is lost."""
        self.ledger.append(
            DecisionRecord(
                **draw.key, accepted=False, content_hash=content_hash, stage=stage, code=code, payload=payload
            )
        )

    def decided(self, place: Place) -> dict[tuple[int, int], DecisionRecord]:
        """What is decided at a place, by draw and repair."""
        found = self.ledger.read(DecisionRecord, slot=place.slot, plan=place.plan)
        return {(record.draw, record.repair): record for record in found}

    def decisions(self) -> list[DecisionRecord]:
        """All decisions, in the order in which they were made."""
        return self.ledger.read(DecisionRecord)


_COUNTS = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")


def digest(model: BaseModel) -> str:
    """Sha256 in hex of a model's JSON with sorted keys."""
    return hashlib.sha256(json.dumps(_json(model), sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _json(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json")


def _calls(role: str, subject: str, model: str, used: Attempt | Made, seconds: float) -> list[Record]:
    """A row for each call that was counted. How many were not is in the payload of the trial."""
    turns = used.extra.get("turns") if isinstance(used, Attempt) else None
    if turns is None:
        turns = [{"usage": {name: getattr(used, name, None) for name in _COUNTS}, "duration_s": seconds}]
    return [
        ModelCallRecord(
            role=role,
            subject=subject,
            number=number,
            model=model,
            **{name: turn["usage"].get(name) or 0 for name in _COUNTS},
            duration_s=turn["duration_s"],
        )
        for number, turn in enumerate(turns)
        if any(turn["usage"].get(name) is not None for name in _COUNTS)
    ]
