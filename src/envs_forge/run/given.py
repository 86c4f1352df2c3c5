"""Pass rates and plans that a user hands to a run, in the place of rollouts and of the first plan."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from envs_forge.config import RunConfig, differing_keys
from envs_forge.errors import UserError
from envs_forge.ledger.store import Ledger
from envs_forge.plan.model import Plan, SeedInput
from envs_forge.rollout.passrate import jeffreys_interval
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import PassRate
from envs_forge.run.digests import Failures, failures
from envs_forge.run.directory import RunDirectory
from envs_forge.run.journal import Journal
from envs_forge.run.parts import Parts
from envs_forge.run.place import NumberedPlan
from envs_forge.run.planning import seed_inputs
from envs_forge.run.rates import read_rates
from envs_forge.run.seeds import Seed

EVENT = "given"


def is_given(config: RunConfig) -> bool:
    """Whether pass rates or a plan were handed in, so that no seed is measured."""
    return config.goal == "environments" and (config.pass_rates is not None or config.planned is not None)


def require_given(config: RunConfig, seeds: Sequence[Seed], parts: Parts) -> None:
    """Refuse pass rates and a plan that do not fit, before anything is made of them.

    Raises:
        UserError: As `given` and `given_plan`.
    """
    _refuse_another_policy(config, parts.policy.model_dump(mode="json"))
    known, _ = _read(config, seeds)
    if config.planned is not None:
        rates = {seed.hash: _rate(seed, *known.get(seed.hash, (0.0, 0))) for seed in seeds}
        given_plan(config.planned, seed_inputs(seeds, rates, parts), config.plan.size)


def given(
    config: RunConfig, seeds: Sequence[Seed], journal: Journal
) -> tuple[dict[str, PassRate], Mapping[str, Failures]]:
    """Pass rates and failures by content hash, as they were when the run began.

    Raises:
        UserError: They cannot be read, fit none of the seeds, or are of another policy than is to run on candidates.
    """
    events = journal.events(EVENT)
    if not events:
        first = journal.first_session()
        if first is not None:
            _refuse_another_policy(config, first.payload["lock"]["policy"])
        known, failed = _read(config, seeds)
        journal.event(EVENT, rates=known, failures={key: one.model_dump(mode="json") for key, one in failed.items()})
        events = journal.events(EVENT)
    payload = events[0].payload
    rates: dict[str, Any] = payload["rates"]
    told = {hash_: Failures.model_validate(one) for hash_, one in payload["failures"].items()}
    return {seed.hash: _rate(seed, *rates.get(seed.hash, (0.0, 0))) for seed in seeds}, told


def _read(config: RunConfig, seeds: Sequence[Seed]) -> tuple[dict[str, tuple[float, int]], Mapping[str, Failures]]:
    known: dict[str, tuple[float, int]] = {}
    failed: Mapping[str, Failures] = {}
    if config.planned is not None:
        known = {choice.seed_hash: (choice.k, choice.n) for choice in read_plan(config.planned).choices}
    if config.pass_rates is not None:
        path = Path(config.pass_rates)
        by_hash, by_name = {seed.hash: seed for seed in seeds}, {seed.id: seed for seed in seeds}
        for row in read_rates(path, scoring=config.plan.scoring):
            seed = by_hash.get(row.content_hash) if row.content_hash else by_name.get(row.id)
            if seed is not None:
                known[seed.hash] = (row.k, row.n)
        failed = failures_of(path, seeds)
    if not known.keys() & {seed.hash for seed in seeds}:
        raise UserError(
            f"none of the pass rates belongs to one of the {len(seeds)} seeds",
            fix="they are matched by content_hash, else by id",
        )
    return known, failed


def _refuse_another_policy(config: RunConfig, own: Mapping[str, Any]) -> None:
    """What is predicted from one policy's rates says nothing of what is measured with another."""
    if not config.remeasure:
        return
    for name in (config.pass_rates, config.planned):
        named = _policy_of(Path(name)) if name is not None else {}
        keys = differing_keys(named, {key: own[key] for key in named})
        if keys:
            theirs, ours = _label(named), _label(own)
            by = "" if theirs != ours else f" in other settings ({', '.join(keys)})"
            raise UserError(
                f"the pass rates in {name} are of the policy {theirs}, --remeasure would run {ours}{by}",
                fix="give the same policy with -m or --policy, or --remeasure 0",
            )


def _policy_of(path: Path) -> Mapping[str, Any]:
    """What a file of pass rates, or that of a run, tells of the policy; empty where it tells nothing."""
    path = RunDirectory(path).pass_rates if path.is_dir() else path
    try:
        table = json.loads(path.read_bytes())
    except (OSError, ValueError):  # No file in our format; whether it can be read at all is found elsewhere.
        return {}
    named = table.get("policy") if isinstance(table, dict) else None
    return {key: named[key] for key in PolicyIdentity.model_fields if key in named} if isinstance(named, dict) else {}


def _label(policy: Mapping[str, Any]) -> str:
    return " ".join(str(policy[key]) for key in ("kind", "name") if key in policy) or "that it names"


def failures_of(path: Path, seeds: Sequence[Seed]) -> Mapping[str, Failures]:
    """How rollouts failed, where the rates come from a run that still has them."""
    ledger = RunDirectory(path).ledger
    if not ledger.is_file():
        return {}
    with Ledger.open(ledger, read_only=True) as old:
        return failures(seeds, Journal(old))


def _rate(seed: Seed, k: float, n: int) -> PassRate:
    low, high = jeffreys_interval(k, n)
    rate = k / n if n else None
    return PassRate(bundle_id=seed.id, bundle_hash=seed.hash, k=k, n=n, invalid=0, rate=rate, low=low, high=high)


def read_plan(name: str) -> Plan:
    """A plan from a file that `plan -o` wrote, or from a run.

    Raises:
        UserError: There is none, or it is no plan.
    """
    path = RunDirectory(Path(name)).plan if Path(name).is_dir() else Path(name)
    try:
        table = json.loads(path.read_bytes())
        known = {key: value for key, value in table.items() if key in Plan.model_fields}
        return Plan.model_validate(known)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}", fix="give what envs-forge plan -o wrote") from error
    except (ValueError, AttributeError, ValidationError) as error:
        raise UserError(f"{path} is no plan", fix="give what envs-forge plan -o wrote") from error


def given_plan(name: str, inputs: Sequence[SeedInput], size: int) -> NumberedPlan:
    """The first plan of a run that was handed one.

    Raises:
        UserError: Its size is not N, or a choice cannot be made with these seeds; names the first.
    """
    plan = read_plan(name)
    choices = tuple(choice.model_copy(update={"fixed": False}) for choice in plan.choices)
    if len(choices) != size:
        raise UserError(f"the plan holds {len(choices)} choices, not {size}", fix="leave -N out, or plan anew")
    known = {seed.content_hash: seed for seed in inputs}
    for choice in choices:
        seed = known.get(choice.seed_hash)
        if seed is None or str(choice.action) not in seed.skills:
            why = "is not among the seeds" if seed is None else seed.ineligible.get(str(choice.action), "cannot apply")
            raise UserError(f"the plan wants {choice.action} of {choice.seed_id}: {why}", fix="plan anew")
    return NumberedPlan(
        number=0, plan=plan.model_copy(update={"choices": choices}), slots={index: index for index in range(size)}
    )
