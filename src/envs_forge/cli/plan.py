"""`envs-forge plan`: pass rates in, N actions out. Needs no engine."""

from __future__ import annotations

from typing import Any

import click

from envs_forge.cli import options
from envs_forge.cli.console import note, show_json


@click.command()
@click.option(
    "--pass-rates",
    "rates",
    required=True,
    metavar="FILE",
    help="Pass rates: what `measure` wrote, a run, or a JSON, JSONL, CSV or Parquet file with id, k and n.",
)
@options.pool()
@click.option("-N", "--size", type=int, metavar="N", help="How many environments [default: 100, or one for each seed].")
@options.recipe()
@click.option("--scoring", type=click.Choice(["plug-in", "posterior"]), help="F of the measured rate, or expected F.")
@click.option("--tau", type=float, metavar="T", help="Pass rate at which a task teaches most [default: 0.5].")
@click.option("--generator", metavar="NAME", help="Who would write the bundles, with -p [default: procedural].")
@options.config_file()
@click.option("-o", "--output", metavar="FILE", help="Also write the plan here, as JSON.")
@click.option("--explain", metavar="SEED", help="Show one seed's six candidates and why the plan did what it did.")
@options.as_json()
def plan(rates: str, file: str | None, output: str | None, explain: str | None, json_: bool, **flags: Any) -> int:
    """Choose what is worth making from measured pass rates.

    With -p the generator says which actions apply to each task and with which skills; without, all six are taken to
    apply and skills play no part.
    """
    from pathlib import Path

    from envs_forge.cli.report import show_explanation, show_plan
    from envs_forge.files import write_json
    from envs_forge.plan.explain import explain_seed
    from envs_forge.plan.planner import make_plan
    from envs_forge.run.rates import plan_inputs, read_rates

    config = options.config(file, flags, goal="environments")
    rows = read_rates(Path(rates), scoring=config.plan.scoring)
    seeds, unmeasured = plan_inputs(rows, config)
    if unmeasured:
        note(f"{len(unmeasured)} tasks have no pass rate and are left out, e.g. {unmeasured[0]}")
    settings = config.plan
    if "size" not in config.plan.model_fields_set:
        settings = settings.model_copy(update={"size": min(settings.size, len(seeds))})
    made = make_plan(seeds, settings)
    if output is not None:
        write_json(Path(output), made.model_dump(mode="json"))
    explanation = explain_seed(made, seeds, settings, explain) if explain is not None else None
    if json_:
        extra = {"explanation": explanation.model_dump(mode="json")} if explanation is not None else {}
        show_json({**made.model_dump(mode="json"), **extra})
    else:
        show_plan(made)
        if explanation is not None:
            show_explanation(explanation)
    return 0
