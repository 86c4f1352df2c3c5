"""`envs-forge lint`: what is wrong with tasks, without a container."""

from __future__ import annotations

import click

from envs_forge.cli import options
from envs_forge.cli.console import say, show_json


@click.command()
@options.pool(required=True)
@click.option("--select", multiple=True, metavar="CODE", help="Only findings with this code. Repeatable.")
@click.option("--ignore", multiple=True, metavar="CODE", help="No findings with this code. Repeatable.")
@click.option("-q", "--quiet", is_flag=True, help="Only errors, no warnings.")
@options.as_json()
def lint(
    paths: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    limit: int | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    quiet: bool,
    json_: bool,
) -> int:
    """Check tasks without running them.

    Form and encodings, rewards that may go unwritten, leaks, network calls, drift: docs/verification-lint.md has the
    codes. Exits with 1 when a task has an error; warnings do not count.
    """
    from envs_forge.bundle.finding import errors_of
    from envs_forge.gold.lint import inspect
    from envs_forge.run.seeds import select_paths

    tasks = select_paths(paths, include=include, exclude=exclude, limit=limit)
    found = {path: inspect(path, select=select or None, ignore=ignore) for path in tasks}
    broken = sum(bool(errors_of(findings)) for findings in found.values())
    warnings = sum(len(findings) - len(errors_of(findings)) for findings in found.values())
    if quiet:
        found = {path: errors_of(findings) for path, findings in found.items()}
    if json_:
        rows = [
            {"path": str(path), "findings": [finding.model_dump(mode="json") for finding in findings]}
            for path, findings in found.items()
        ]
        show_json({"checked": len(found), "with_errors": broken, "warnings": warnings, "tasks": rows})
    else:
        for path, findings in found.items():
            for finding in findings:
                say(f"{path}: {finding}")
        say(f"{len(found)} tasks checked, {broken} with errors, {warnings} warnings")
    return 1 if broken else 0
