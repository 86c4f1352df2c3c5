"""The procedural generator: evolves what it made itself, by editing compositions. Needs no model and no key."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle.model import Bundle
from envs_forge.plan.model import ACTIONS, CandidateSkills
from envs_forge.synthesis.generator import Assignment, Candidate, Rejection
from envs_forge.synthesis.procedural import actions
from envs_forge.synthesis.procedural.build import NoDataError
from envs_forge.synthesis.procedural.chain import weight
from envs_forge.synthesis.procedural.composition import Composition, read_composition
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.edits.moves import Edit
from envs_forge.synthesis.procedural.render import render, skills_of

FOREIGN = "not made by the procedural generator; it cannot evolve this task"
TRIES = 12
"""Edits and numbers that are tried where no data fits."""


class ProceduralGenerator:
    """Edits the composition that a bundle carries in its provenance. Implements `Generator`.

    Args:
        seed: Number that all choices start from. Equal seeds, parents and assignments give equal bytes.
    """

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = seed

    @property
    def name(self) -> str:
        """`procedural`."""
        return "procedural"

    def options(self, bundle: Bundle) -> Mapping[str, CandidateSkills | str]:
        """See `Generator.options`. Works from the composition; builds nothing."""
        composition = read_composition(bundle.provenance)
        if composition is None:
            return {str(action): FOREIGN for action in ACTIONS}
        return actions.options(composition)

    def generate(self, assignment: Assignment, parent: Bundle) -> Candidate | Rejection:
        """See `Generator.generate`.

        Returns:
            The candidate, or a rejection: `foreign`, `ineligible` (the action cannot apply), `skills-lost` (no edit
            keeps the required skills), `no-data` (no data was found on which every constraint matters).
        """
        composition = read_composition(parent.provenance)
        if composition is None:
            return Rejection(code="foreign", evidence=FOREIGN)
        option = actions.options(composition)[str(assignment.action)]
        if isinstance(option, str):
            return Rejection(code="ineligible", evidence=option)
        dice = Dice("child", self._seed, composition.digest, assignment.action)
        ranked = actions.ranked_edits(
            composition.uses,
            assignment.action,
            dice,
            turn=assignment.slot + assignment.draw,
            required=assignment.required,
            optional=assignment.optional,
            failed=assignment.failed,
        )
        if not ranked:
            needed = ", ".join(assignment.required)
            return Rejection(code="skills-lost", evidence=f"no edit keeps all of: {needed}")
        return _first_that_builds(composition, ranked, assignment, dice)


def _first_that_builds(
    composition: Composition, ranked: list[Edit], assignment: Assignment, dice: Dice
) -> Candidate | Rejection:
    reasons: list[str] = []
    for attempt in range(TRIES):
        edit = ranked[attempt % len(ranked)]
        own = dice.fork(assignment.slot, assignment.draw, attempt)
        child = actions.child_of(composition, edit, assignment.action, own)
        try:
            bundle = render(child)
        except NoDataError as error:
            reasons.append(str(error))
            continue
        detail = {
            "edit": list(edit.done) or ["another instance of the same chain"],
            "weight": {"parent": weight(composition.uses), "child": weight(child.uses)},
            "unmet": sorted({*assignment.optional} - {*skills_of(child)}),
            "attempts": attempt + 1,
        }
        return Candidate(bundle=bundle, realised=skills_of(child), detail=detail)
    return Rejection(code="no-data", evidence="; ".join(dict.fromkeys(reasons)))
