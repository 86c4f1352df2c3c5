"""Children of real parents: sound bundles, the parts that the action must change, skills as the plan asked."""

from __future__ import annotations

from contextlib import suppress

import pytest

from envs_forge.bundle import Bundle, check_bundle, content_hash, make_bundle
from envs_forge.bundle.model import Part
from envs_forge.plan.model import ACTIONS, Action, CandidateSkills, Projection
from envs_forge.synthesis.generator import Assignment, Candidate, Rejection
from envs_forge.synthesis.procedural.build import NoDataError
from envs_forge.synthesis.procedural.composition import Composition, Use, read_composition
from envs_forge.synthesis.procedural.generator import FOREIGN, ProceduralGenerator
from envs_forge.synthesis.procedural.render import render
from synthesis.procedural.grown import grown

MUST = {
    Projection.INCREASE: {Part.INSTRUCTION, Part.DATA, Part.SOLUTION, Part.TESTS},
    Projection.DIVERSIFY: {Part.INSTRUCTION, Part.DATA, Part.SOLUTION, Part.TESTS},
    Projection.REDUCE: {*Part},
}
GENERATOR = ProceduralGenerator()
FILTER = Composition(scenario="release", number=8, uses=(Use(operation="filter_rows", knobs=("padding",)),))


@pytest.fixture(scope="module")
def parents() -> list[Bundle]:
    """Bundles of some of the compositions that data was found for."""
    found = []
    for composition in list(grown(4))[::2]:
        with suppress(NoDataError):
            found.append(render(composition))
    return found


def assignment(action: Action, option: CandidateSkills, *, draw: int = 0, optional: tuple[str, ...] = ()) -> Assignment:
    return Assignment(
        slot=0,
        draw=draw,
        seed_id="seed",
        seed_hash="0",
        action=action,
        recipe="forge",
        pass_rate=0.5,
        k=2,
        n=4,
        predicted=0.5,
        frontier_score=1.0,
        required=option.required,
        optional=optional,
    )


def part_of(path: str) -> Part | None:
    top = path.split("/")[0]
    if path == "instruction.md":
        return Part.INSTRUCTION
    if top in ("solution", "tests"):
        return Part.SOLUTION if top == "solution" else Part.TESTS
    if top == "environment":
        return Part.IMAGE if path.endswith(("Dockerfile", ".py")) else Part.DATA
    return None


def changed_parts(parent: Bundle, child: Bundle) -> set[Part]:
    paths = {*parent.files, *child.files}
    return {part for path in paths if parent.files.get(path) != child.files.get(path) and (part := part_of(path))}


def made(
    parent: Bundle, action: Action, *, draw: int = 0, optional: tuple[str, ...] = ()
) -> Candidate | Rejection | str:
    """The answer to an assignment, or why the action is ineligible. Hardly ever there is no data for any edit."""
    option = GENERATOR.options(parent)[str(action)]
    if isinstance(option, str):
        return option
    answer = GENERATOR.generate(assignment(action, option, draw=draw, optional=optional), parent)
    if isinstance(answer, Candidate):
        assert {*option.required} <= {*answer.realised}
    else:
        assert answer.code == "no-data"
    return answer


@pytest.mark.parametrize("action", ACTIONS, ids=str)
def test_children_are_sound_and_change_the_parts_that_they_must(action: Action, parents: list[Bundle]) -> None:
    applied = in_vain = 0
    for parent in parents:
        child = made(parent, action)
        if not isinstance(child, Candidate):
            in_vain += isinstance(child, Rejection)
            continue
        applied += 1
        assert check_bundle(child.bundle) == []
        assert changed_parts(parent, child.bundle) >= MUST[action.projection], child.detail
        old, new = read_composition(parent.provenance), read_composition(child.bundle.provenance)
        assert old is not None
        assert new is not None
        assert child.detail["weight"] == {"parent": old.weight, "child": new.weight}
        assert list(child.realised) == child.bundle.provenance["skills"]
    assert applied > 5 * in_vain


@pytest.mark.parametrize("action", ACTIONS, ids=str)
def test_draws_differ_and_the_same_draw_gives_the_same_bytes(action: Action) -> None:
    parent = render(Composition(scenario="release", number=8, uses=(*FILTER.uses, Use(operation="top_k"))))
    children = [made(parent, action, draw=draw) for draw in (0, 1, 2, 3, 0)]
    bundles = [child.bundle for child in children if isinstance(child, Candidate)]
    assert len(bundles) == 5
    assert len({content_hash(bundle) for bundle in bundles}) == 4
    assert bundles[0].files == bundles[4].files


def test_other_seeds_of_the_run_and_other_slots_give_other_children() -> None:
    parent = render(FILTER)
    option = GENERATOR.options(parent)["increase/in_depth"]
    assert isinstance(option, CandidateSkills)
    asked = assignment(ACTIONS[0], option)
    answers = [
        GENERATOR.generate(asked, parent),
        ProceduralGenerator(seed=1).generate(asked, parent),
        GENERATOR.generate(asked.model_copy(update={"slot": 1}), parent),
    ]
    assert len({content_hash(answer.bundle) for answer in answers if isinstance(answer, Candidate)}) == 3


def test_optional_skills_of_the_assignment_are_exercised() -> None:
    parent = render(FILTER)
    asked = 0
    for action in ACTIONS:
        option = GENERATOR.options(parent)[str(action)]
        for skill in option.optional if isinstance(option, CandidateSkills) else ():
            child = made(parent, action, optional=(skill,))
            assert isinstance(child, Candidate)
            assert skill in child.realised
            assert child.detail["unmet"] == []
            asked += 1
    assert asked > 5


def test_children_can_be_evolved_again() -> None:
    bundle = render(FILTER)
    for draw in range(3):
        child = made(bundle, ACTIONS[draw % 2], draw=draw)
        assert isinstance(child, Candidate)
        bundle = child.bundle
    own = read_composition(bundle.provenance)
    assert own is not None
    assert own.weight >= FILTER.weight + 3


def test_foreign_bundles_are_told_apart() -> None:
    files = {path: file for path, file in render(FILTER).files.items() if path != "task.toml"}
    toml = b'schema_version = "1.4"\n[task]\nname = "org/foreign"\n'
    file = render(FILTER).files["task.toml"].model_copy(update={"data": toml})
    foreign = make_bundle("foreign", {**files, "task.toml": file})
    assert GENERATOR.options(foreign) == {str(action): FOREIGN for action in ACTIONS}
    answer = GENERATOR.generate(assignment(ACTIONS[0], CandidateSkills()), foreign)
    assert answer == Rejection(code="foreign", evidence=FOREIGN)


def test_what_cannot_be_done_is_a_rejection_with_a_code() -> None:
    parent = render(Composition(scenario="release", number=8, uses=(Use(operation="filter_rows"),)))
    reduce = next(action for action in ACTIONS if str(action) == "reduce/in_depth")
    answer = GENERATOR.generate(assignment(reduce, CandidateSkills()), parent)
    assert isinstance(answer, Rejection)
    assert answer.code == "ineligible"
    lost = assignment(ACTIONS[0], CandidateSkills(required=("operation/git-restore",)))
    answer = GENERATOR.generate(lost, parent)
    assert isinstance(answer, Rejection)
    assert answer.code == "skills-lost"
