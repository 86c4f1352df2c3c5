"""What a run would do, and for a generator that asks a model the prompt of one assignment. Nothing is started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envs_forge.cli.console import say, show_json
from envs_forge.cli.outcomes import dry_run_document
from envs_forge.config import RunConfig
from envs_forge.errors import UserError
from envs_forge.plan.model import ACTIONS, CandidateSkills, Choice
from envs_forge.run.seeds import Seed
from envs_forge.synthesis.generator import Assignment


def show_dry_run(config: RunConfig, *, json_: bool) -> None:
    """What would be done in a few lines, or with all settings as JSON; with the generator llm the prompt too."""
    if config.generator != "llm":
        document = dry_run_document(config)
        if json_:
            show_json(document)
        else:
            _show(config, document)
        return
    document = {**dry_run_document(config), **prompt_document(config)}
    if json_:
        show_json(document)
        return
    for message in document["prompt"]["messages"]:
        say(f"--- {message['role']}")
        say(message["content"])
    tokens = document["prompt"]["tokens"]
    say("---")
    if document["prompt"]["assumed_rate"]:
        say("no pass rates were given (--pass-rates): the prompt is shown as if the seed passed 2 of 4 tries")
    say(
        f"about {tokens['all']} tokens: {tokens['shared']} shared by all calls, {tokens['seed']} by all on this seed;"
        f" the answer may have {config.writer.sampling.max_tokens}"
    )
    reserved = document["prompt"]["reserved"]
    say(f"a run reserves {reserved['tokens']:,} tokens for this call, more than any tokenizer makes of it")
    if document["prompt"]["cost_usd"] is not None:
        say(f"about ${document['prompt']['cost_usd']:.4f}, ${reserved['cost_usd']:.4f} reserved")


def _show(config: RunConfig, document: dict[str, Any]) -> None:
    seeds = list(document["seeds"])
    shown = ", ".join(seeds[:5]) + (f" and {len(seeds) - 5} more" if len(seeds) > 5 else "")
    say(f"seeds         {len(seeds)}: {shown}")
    say(f"policy        {config.policy}, {document['rollouts']} rollouts in all")
    if document["environments"]:
        tries = f"{config.draws} tries at each"
        say(f"environments  {document['environments']} by recipe {config.plan.recipe}, {tries}")
        say(f"generator     {config.generator}")
    say(f"engine        {config.engine}{'' if config.network else ', without a network'}")
    say("nothing was started; --json shows every setting")


def prompt_document(config: RunConfig) -> dict[str, Any]:
    """The prompt of the first assignment that is known, and what keeps seeds from taking part."""
    from envs_forge.cli.conduct import seeds_of
    from envs_forge.models.answer import Request
    from envs_forge.run.checks import overlap_check
    from envs_forge.run.desk import prompt_at_most
    from envs_forge.run.parts import check_caps, remembered_options
    from envs_forge.synthesis.llm.generator import LlmGenerator

    generator = LlmGenerator(config.writer, seed=config.seed)
    options = remembered_options(generator, overlap_check(config))
    seeds = seeds_of(config)
    reasons = {
        seed.id: {action: why for action, why in options(seed).items() if isinstance(why, str)} for seed in seeds
    }
    check_caps(config)
    assignment, seed, assumed = _first(config, seeds, {seed.hash: options(seed) for seed in seeds})
    asked = generator.contract(assignment, seed.bundle)
    most = config.writer.sampling.max_tokens
    reserved = prompt_at_most(Request(messages=asked.messages), config.writer.sampling)
    return {
        "ineligible": {name: found for name, found in reasons.items() if found},
        "prompt": {
            "assignment": assignment.model_dump(mode="json"),
            "assumed_rate": assumed,
            "messages": [dict(message) for message in asked.messages],
            "tokens": {"all": asked.tokens, "shared": asked.shared_tokens, "seed": asked.seed_tokens},
            "cut": list(asked.cut),
            "cost_usd": config.writer.price.cost(asked.tokens, most),
            "reserved": {"tokens": reserved + most, "cost_usd": config.writer.price.worst(reserved, most)},
        },
    }


def _first(config: RunConfig, seeds: list[Seed], options: dict[str, Any]) -> tuple[Assignment, Seed, bool]:
    """What the plan or the pass rates that are given choose first; else the first action that applies, as if at 2/4.

    The last says that it is `as if`.
    """
    from envs_forge.plan.recipes import MASKS
    from envs_forge.run.digests import Failures
    from envs_forge.run.given import failures_of
    from envs_forge.run.place import Place

    by_hash = {seed.hash: seed for seed in seeds}
    for choice in _choices(config):
        if choice.seed_hash in by_hash:
            place = Place(0, 0, choice, str(config.plan.recipe))
            failures = failures_of(Path(config.pass_rates), seeds) if config.pass_rates else {}
            failed = failures.get(choice.seed_hash, Failures())
            return failed.told(place.draw(0).assignment), by_hash[choice.seed_hash], False
    for seed in seeds:
        for action in ACTIONS:
            own = options[seed.hash][str(action)]
            if action in MASKS[config.plan.recipe] and isinstance(own, CandidateSkills):
                figures = {"pass_rate": 0.5, "k": 2, "n": 4, "predicted": 0.5, "frontier_score": 1.0}
                told = {"seed_id": seed.id, "seed_hash": seed.hash, "recipe": str(config.plan.recipe), **figures}
                skills = {"required": own.required, "optional": own.optional[:1]}
                return Assignment(slot=0, draw=0, action=action, **told, **skills), seed, True
    raise UserError("no action of this recipe applies to any of the seeds", fix="see `ineligible` of --dry-run --json")


def _choices(config: RunConfig) -> Sequence[Choice]:
    """Those of the plan that is given, or the one that a plan of one makes of the pass rates."""
    from envs_forge.plan.planner import make_plan
    from envs_forge.run.given import read_plan
    from envs_forge.run.rates import plan_inputs, read_rates

    if config.planned is not None:
        return read_plan(config.planned).choices
    if config.pass_rates is None:
        return ()
    rows = read_rates(Path(config.pass_rates), scoring=config.plan.scoring)
    return make_plan(plan_inputs(rows, config).seeds, config.plan.model_copy(update={"size": 1})).choices
