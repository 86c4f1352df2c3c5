"""`envs-forge convert`: tasks of other formats as Harbor tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from envs_forge.cli import options
from envs_forge.cli.console import say, show_json

if TYPE_CHECKING:
    from envs_forge.bundle.formats.conversion import Conversion


@click.command()
@options.pool(required=True)
@click.option("-o", "--output", required=True, metavar="DIR", help="Where the tasks go, a directory each.")
@click.option("--dry-run", is_flag=True, help="Say what would become of each task and write nothing.")
@options.as_json()
def convert(
    paths: tuple[str, ...],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    limit: int | None,
    output: str,
    dry_run: bool,
    json_: bool,
) -> int:
    """Write Terminal-Bench tasks as Harbor tasks.

    Never overwrites: when one of the directories is there already, nothing is written. Exits with 1 when a task
    cannot be converted. What a converted task needs and cannot get here is named; verify calls it unsupported.
    """
    from pathlib import Path

    from envs_forge.bundle.formats.conversion import Outcome, convert_all
    from envs_forge.run.seeds import select_paths

    tasks = select_paths(paths, include=include, exclude=exclude, limit=limit)
    reports = convert_all(tasks, Path(output), dry_run=dry_run)
    counts = {outcome: sum(report.outcome is outcome for report in reports) for outcome in Outcome}
    if json_:
        rows = [report.model_dump(mode="json") for report in reports]
        numbers = {outcome.value.replace("-", "_"): count for outcome, count in counts.items()}
        show_json({"tasks": len(reports), **numbers, "output": output, "reports": rows})
    else:
        for report in reports:
            say(_line(report))
        told = ", ".join(f"{count} {outcome.value.replace('-', ' ')}" for outcome, count in counts.items() if count)
        say(f"{len(reports)} tasks: {told}{' (nothing was written)' if dry_run else f', in {output}'}")
    return 1 if counts[Outcome.FAILED] else 0


def _line(report: Conversion) -> str:
    """One task in one line."""
    name = report.id if report.id.isprintable() else repr(report.id)
    head = f"{name}: {report.outcome.value.replace('-', ' ')}"
    if report.outcome == "failed":
        more = f"; {len(report.findings) - 1} more" if len(report.findings) > 1 else ""
        return f"{head}: {report.findings[0]}{more}"
    if report.unsupported:
        needs = "; ".join(f"{finding.message} [{finding.code}]" for finding in report.unsupported)
        return f"{head}, unsupported here: {needs}"
    return head
