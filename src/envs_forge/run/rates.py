"""Pass rates that a user hands to the planner, and what the planner is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from envs_forge.config import RunConfig
from envs_forge.errors import UserError
from envs_forge.plan.inputs import listing
from envs_forge.plan.model import ACTIONS, CandidateSkills, SeedInput
from envs_forge.plan.passrates import PassRateRow, read_pass_rates
from envs_forge.plan.settings import Scoring
from envs_forge.plan.skills import candidate_skills, load_graph
from envs_forge.run.checks import overlap_check
from envs_forge.run.directory import RunDirectory
from envs_forge.run.harborjobs import is_job, read_job
from envs_forge.run.parts import Options, remembered_options
from envs_forge.run.planning import seed_input
from envs_forge.run.seeds import Seed, load_seeds, select_paths
from envs_forge.synthesis.registry import make_generator

EVERYTHING: Options = {str(action): CandidateSkills() for action in ACTIONS}
"""What is assumed of seeds of which no more than a pass rate is known."""


def read_rates(path: Path, *, scoring: Scoring) -> Sequence[PassRateRow]:
    """Pass rates of a file, of a run's directory, or of a Harbor job directory.

    A rate without its number of rollouts is taken for plug-in scoring only, which asks for nothing but the rate.

    Raises:
        UserError: No such file, or rows that cannot be used, naming them.
    """
    if path.is_dir():
        inside = RunDirectory(path).pass_rates
        if not inside.is_file() and is_job(path):
            return read_job(path)
        if not inside.is_file():
            raise UserError(f"{path} holds no {inside.name}", fix="give a file, or a run that has measured its seeds")
        path = inside
    return read_pass_rates(path, rate_alone=scoring is Scoring.PLUG_IN)


class Matched(NamedTuple):
    """Pass rates and tasks brought together.

    Attributes:
        seeds: As the planner sees them.
        unmeasured: Names of tasks that no row speaks of.
        unmatched: Rows that speak of none of the tasks, as `row 3 (name)`.
    """

    seeds: list[SeedInput]
    unmeasured: list[str]
    unmatched: list[str]


def plan_inputs(rows: Sequence[PassRateRow], config: RunConfig) -> Matched:
    """Seeds as the planner sees them, and what did not fit.

    With paths in the config the rows are matched to tasks, by content where a row has a hash, else by name. Without,
    all six actions are taken to apply, with the skills that the graph derives from those of a row.

    Raises:
        UserError: No row belongs to a task, two rows belong to one, or a task has changed since it was measured.
    """
    if not config.seeds:
        assumed = [seed_input(row.id, row.content_hash or row.id, row.k, row.n, _assumed(row)) for row in rows]
        return Matched(assumed, [], [])
    seeds = load_seeds(select_paths(config.seeds, include=config.include, exclude=config.exclude, limit=config.limit))
    by_hash, by_name = {seed.hash: seed for seed in seeds}, {seed.id: seed for seed in seeds}
    options = remembered_options(
        make_generator(config.generator, seed=config.seed, writer=config.writer), overlap_check(config)
    )
    found: dict[str, SeedInput] = {}
    strange: list[PassRateRow] = []
    twice: list[str] = []
    for row in rows:
        seed = by_hash.get(row.content_hash) if row.content_hash else by_name.get(row.id)
        if seed is None:
            strange.append(row)
        elif seed.id in found:
            twice.append(_place(row))
        else:
            found[seed.id] = seed_input(seed.id, seed.hash, row.k, row.n, options(seed))
    if twice:
        raise UserError(f"more than one pass rate for a task: {listing(twice)}", fix="leave one of them")
    _refuse_strangers([row.id for row in strange], found, seeds)
    unmeasured = [seed.id for seed in seeds if seed.id not in found]
    return Matched(list(found.values()), unmeasured, [_place(row) for row in strange])


def _place(row: PassRateRow) -> str:
    return f"row {row.row} ({row.id})" if row.row else row.id


def _assumed(row: PassRateRow) -> Options:
    return candidate_skills(load_graph(), row.skills) if row.skills else EVERYTHING


def _refuse_strangers(strange: Sequence[str], found: dict[str, SeedInput], seeds: Sequence[Seed]) -> None:
    """Rows of tasks that -i, -x or -l leave out are no mistake; rows that fit nothing at all are."""
    changed = sorted({seed.id for seed in seeds} & set(strange))
    if changed:
        raise UserError(
            f"{len(changed)} tasks, e.g. {changed[0]}, are not what they were when they were measured",
            fix="measure them again",
        )
    if strange and not found:
        raise UserError(
            f"none of the {len(strange)} pass rates, e.g. {strange[0]}, belongs to one of the {len(seeds)} tasks",
            fix="they are matched by content_hash, else by id",
        )
