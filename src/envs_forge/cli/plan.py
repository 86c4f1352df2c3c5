"""`envs-forge plan`: pass rates in, N actions out. Needs no engine."""

from __future__ import annotations

from typing import Any

import click

from envs_forge.cli import options, transition
from envs_forge.cli.console import note, show_json
from envs_forge.errors import UserError


@click.command()
@click.option(
    "--pass-rates",
    "rates",
    required=True,
    metavar="FILE",
    help="Pass rates: what `measure` wrote, a run, a Harbor job directory, or a JSON, JSONL, CSV or Parquet file with "
    "id, k and n.",
)
@options.pool()
@click.option("-N", "--size", type=int, metavar="N", help="How many environments [default: 100, or one for each seed].")
@options.recipe()
@transition.option()
@click.option(
    "--arm",
    type=click.Choice(["masked", "blind"]),
    help="Choose the best within the recipe, or take seeds in random order, unmeasured [default: masked].",
)
@click.option(
    "--solver",
    type=click.Choice(["milp", "greedy", "argmax"]),
    help="The optimiser, or an ablation of it; they differ only where quotas bind [default: milp].",
)
@click.option(
    "--scoring",
    type=click.Choice(["posterior", "plug-in"]),
    help="Expected F given how little was measured, or F of the measured rate [default: posterior].",
)
@click.option("--tau", type=float, metavar="T", help="Pass rate at which a task teaches most [default: 0.5].")
@click.option(
    "--quota",
    "quotas",
    multiple=True,
    metavar="SKILL=N",
    help="Least uses of a skill: a number, a share of N below 1, or `uniform` alone. Repeatable; replaces what the "
    "config asks for.",
)
@click.option(
    "--slack-cap",
    type=float,
    metavar="SHARE",
    help="Most that a quota may be missed by, as a share of it; beyond it there is no plan [default: no limit].",
)
@click.option("--generator", metavar="NAME", help="Who would write the bundles, with -p [default: procedural].")
@options.config_file()
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Also write the plan here, as JSON.",
)
@click.option("--explain", metavar="SEED", help="Show one seed's six candidates and why the plan did what it did.")
@options.as_json()
def plan(
    rates: str,
    file: str | None,
    output: str | None,
    explain: str | None,
    quotas: tuple[str, ...],
    json_: bool,
    **flags: Any,
) -> int:
    """Choose what is worth making from measured pass rates.

    With -p the generator says which actions apply to each task and with which skills. Without it all six are taken to
    apply, and skills are those that the rows of the file name (`skills`), if any.
    """
    from pathlib import Path

    from envs_forge.cli.planned import show_explanation, show_plan
    from envs_forge.cli.quota import parse_quotas
    from envs_forge.files import write_json
    from envs_forge.plan.explain import explain as explain_all
    from envs_forge.plan.explain import explain_seed, plan_document
    from envs_forge.plan.inputs import listing
    from envs_forge.plan.planner import make_plan
    from envs_forge.run.rates import plan_inputs, read_rates

    planned = {f"plan.{name}": flags.pop(name) for name in ("arm", "solver", "slack_cap")}
    flags |= {**planned, "plan.quotas": parse_quotas(quotas)}
    config = options.config(file, flags, goal="environments")
    rows = read_rates(Path(rates), scoring=config.plan.scoring)
    seeds, unmeasured, unmatched = plan_inputs(rows, config)
    if unmeasured:
        note(f"tasks without a pass rate, left out ({len(unmeasured)}): {listing(unmeasured)}")
    if unmatched:
        note(f"pass rates that belong to none of the tasks, left out ({len(unmatched)}): {listing(unmatched)}")
    settings = config.plan
    if settings.quotas and not any(own.required or own.optional for seed in seeds for own in seed.skills.values()):
        raise UserError("quotas need skills, and nothing is known of these seeds' skills", fix="give the tasks with -p")
    if "size" not in config.plan.model_fields_set:
        settings = settings.model_copy(update={"size": min(settings.size, len(seeds))})
    made = make_plan(seeds, settings)
    overview = explain_all(made, seeds, settings)
    one = explain_seed(made, seeds, settings, explain) if explain is not None else None
    if output is not None:
        write_json(Path(output), plan_document(made, overview, one))
    if json_:
        show_json(plan_document(made, overview, one))
    else:
        show_plan(made, overview)
        if one is not None:
            show_explanation(one)
    return 0
