"""`envs-forge skills`: what a pool is about. Needs no engine and no pass rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from envs_forge.cli import options
from envs_forge.cli.console import say, show_json, show_table

if TYPE_CHECKING:
    from envs_forge.run.coverage import Coverage

_NAMES = 10


@click.command()
@options.pool(required=True)
@click.option("-N", "--size", type=int, metavar="N", help="N for quotas that are shares [default: one for each task].")
@click.option(
    "--quota",
    "quotas",
    multiple=True,
    metavar="SKILL=N",
    help="Also say whether the pool could meet this quota, as for `plan`. Repeatable; replaces the config's.",
)
@click.option("--generator", metavar="NAME", help="Who would write the bundles [default: procedural].")
@options.config_file()
@options.as_json()
def skills(file: str | None, quotas: tuple[str, ...], json_: bool, **flags: Any) -> int:
    """Show which skills a pool of tasks covers.

    Skills come from a task's metadata, else from its texts. `reachable` counts the tasks from which a child that uses
    the skill could be made, by the generator or, where it cannot evolve a task, by another. Exits with 1 when a quota
    is beyond what the pool can give.
    """
    from envs_forge.cli.conduct import seeds_of
    from envs_forge.cli.quota import parse_quotas
    from envs_forge.run.coverage import coverage

    config = options.config(file, {**flags, "plan.quotas": parse_quotas(quotas)}, goal="environments")
    found = coverage(seeds_of(config), config)
    if json_:
        show_json({**found.model_dump(mode="json"), "unmet": [quota.skill for quota in found.unmet]})
    else:
        _show(found, config.generator)
    return 1 if found.unmet else 0


def _show(found: Coverage, generator: str) -> None:
    rows = [(count.skill, str(count.seeds), str(count.reachable)) for count in found.skills]
    show_table(("skill", "seeds", "reachable"), rows, right=(1, 2))
    say()
    say("covered: " + ", ".join(f"{kind} {count.covered}/{count.known}" for kind, count in found.types.items()))
    by_source = ", ".join(f"{source} {count}" for source, count in found.sources.items())
    say(f"{found.seeds} tasks, skills from: {by_source}")
    if found.untagged:
        say(f"without any skill: {_listing(found.untagged)}")
    if found.unknown:
        say(f"not in the skill graph: {_listing(found.unknown)}")
    if found.underivable:
        say(
            f"the {generator} generator can evolve {found.seeds - len(found.underivable)} of {found.seeds} tasks; the "
            f"others count as reachable with what another could make of them: {_listing(found.underivable)}"
        )
    if found.quotas:
        say(f"quotas at N = {found.size}: {len(found.quotas) - len(found.unmet)} within reach, {len(found.unmet)} not")
    for quota in found.unmet:
        say(f"  {quota.skill}: {quota.asked} asked, {quota.reachable} can be reached")


def _listing(names: tuple[str, ...]) -> str:
    return ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")
