"""`envs-forge evaluate`: Pass@1 and Pass@k of a policy on tasks, and two policies against each other."""

from __future__ import annotations

from typing import Any

import click

from envs_forge.cli import options
from envs_forge.cli.console import show_json


@click.command()
@click.argument("run", required=False, metavar="[RUN]")
@options.pool()
@click.option(
    "-d",
    "--dataset",
    "datasets",
    multiple=True,
    metavar="NAME",
    help="Dataset of Harbor's registry, downloaded once, e.g. terminal-bench@2.0. Repeatable.",
)
@click.option("--registry", metavar="URL|FILE", help="Another registry of datasets than Harbor's own.")
@options.policy()
@options.fresh()
@options.machine()
@options.config_file()
@click.option("-o", "--output", metavar="DIR", help="Run directory [default: runs/<date>__<time>].")
@click.option("--compare", nargs=2, metavar="A B", help="Compare two evaluated runs, paired by task; runs nothing.")
@click.option("--dry-run", is_flag=True, help="Show what would be done and stop.")
@options.quiet()
@options.as_json()
def evaluate(
    run: str | None,
    file: str | None,
    output: str | None,
    datasets: tuple[str, ...],
    registry: str | None,
    compare: tuple[str, str] | None,
    dry_run: bool,
    quiet: bool,
    json_: bool,
    **flags: Any,
) -> int:
    """Evaluate a policy on tasks: Pass@1 and Pass@k with intervals.

    Give tasks (-p, -d) to measure the policy on them -k times each, or RUN, a directory or a name under runs/, to
    finish and show an evaluation or a measurement that exists. Each figure is shown over the rollouts that count
    and over all of them. Exits with 1 when a rollout is missing or a task has none that counts.
    """
    from envs_forge.cli.conduct import begin, go_on
    from envs_forge.cli.datasets import with_datasets
    from envs_forge.cli.evaluated import comparison_document, show_comparison, show_evaluation
    from envs_forge.cli.outcomes import dry_run_document
    from envs_forge.errors import UserError
    from envs_forge.run.directory import find_run
    from envs_forge.run.evaluated import stored_evaluation
    from envs_forge.run.stored import finished_result, resumed_config

    tasks = bool(flags["paths"] or datasets) or file is not None
    if sum((run is not None, tasks, compare is not None)) != 1:
        raise UserError("evaluate what?", fix="give -p TASKS or -d DATASET, or one RUN, or --compare A B")
    if registry is not None and not datasets:
        raise UserError("--registry without a dataset", fix="name one with -d")
    if compare is not None:
        found = comparison_document(*(find_run(name) for name in compare))
        show_json(found.model_dump(mode="json")) if json_ else show_comparison(found)
        return 0
    if run is not None:
        directory = find_run(run)
        with directory.hold():
            config = resumed_config(directory, None, {})
            if finished_result(directory, config) is None:
                go_on(directory, config, quiet=quiet)
    else:
        config = options.config(file, flags, goal="pass-rates")
        if datasets:
            config = with_datasets(config, datasets, registry, beside=bool(flags["paths"]))
        if dry_run:
            show_json(dry_run_document(config))
            return 0
        directory, _ = begin(config, output=output, quiet=quiet, command="evaluate")
    evaluation = stored_evaluation(directory)
    show_evaluation(directory, evaluation, json_=json_)
    return 1 if evaluation.missing or not all(task.valid for task in evaluation.tasks) else 0
