"""`envs-forge lint`: what is wrong with the form of tasks, without a container."""

from __future__ import annotations

import click

from envs_forge.cli import options
from envs_forge.cli.console import say, show_json


@click.command()
@options.pool(required=True)
@options.as_json()
def lint(
    paths: tuple[str, ...], include: tuple[str, ...], exclude: tuple[str, ...], limit: int | None, json_: bool
) -> int:
    """Check the form of tasks: files, task.toml, encodings, links.

    Exits with 1 when a task cannot be used as it is.
    """
    from envs_forge.bundle.check import check_bundle
    from envs_forge.bundle.finding import errors_of
    from envs_forge.run.seeds import select_paths

    found = {path: check_bundle(path) for path in select_paths(paths, include=include, exclude=exclude, limit=limit)}
    broken = sum(bool(errors_of(findings)) for findings in found.values())
    if json_:
        tasks = [
            {"path": str(path), "findings": [finding.model_dump(mode="json") for finding in findings]}
            for path, findings in found.items()
        ]
        show_json({"checked": len(found), "with_errors": broken, "tasks": tasks})
    else:
        for path, findings in found.items():
            for finding in findings:
                say(f"{path}: {finding}")
        say(f"{len(found)} tasks checked, {broken} with errors")
    return 1 if broken else 0
