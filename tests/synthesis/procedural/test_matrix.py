"""Right ways pass the real tests, wrong ways fail them exactly when their knob is on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from envs_forge.rollout.policies.builtin.ways import repertoire
from envs_forge.synthesis.procedural.build import Build, build
from envs_forge.synthesis.procedural.composition import Composition, Use
from envs_forge.synthesis.procedural.operation import Operation
from envs_forge.synthesis.procedural.operations import operations
from envs_forge.synthesis.procedural.render import render_build
from envs_forge.synthesis.procedural.scenario import scenario_ids
from synthesis.procedural.arena import Arena, Case, oracle
from synthesis.procedural.forced import forced_jobs, script

WAYS = {known.operation: known for known in repertoire()}


def knob_sets(operation: Operation) -> list[tuple[str, ...]]:
    """None, each alone, and as many together as go together (twice, from either end)."""
    sets: list[tuple[str, ...]] = [(), *((knob.id,) for knob in operation.knobs)]
    for order in (operation.knobs, operation.knobs[::-1]):
        chosen: list[str] = []
        for knob in order:
            clash = {*knob.excludes} & {*chosen} or any(knob.id in operation.knob(c).excludes for c in chosen)
            chosen += [] if clash else [knob.id]
        sets.append(tuple(sorted(chosen)))
    return list(dict.fromkeys(sets))


def cases_of(operation: Operation) -> Iterator[tuple[Case, str, str]]:
    """Case, wanted reward, check that must fail (or empty)."""
    for number, knobs in enumerate(knob_sets(operation)):
        scenario = scenario_ids()[number % len(scenario_ids())]
        uses = (Use(operation=operation.id, knobs=knobs),)
        made = build(Composition(scenario=scenario, number=number, size=1 + number % 2, uses=uses))
        bundle = render_build(made)
        name = f"{operation.id}({', '.join(knobs)})"
        yield Case(f"{name} oracle", bundle, oracle(bundle), whole=True), "1", ""
        yield Case(f"{name} untouched", bundle, "", whole=True), "0", ""
        yield Case(f"{name} right", bundle, script(forced_jobs(made))), "1", ""
        yield from wrong_cases(made, name)


def wrong_cases(made: Build, name: str) -> Iterator[tuple[Case, str, str]]:
    step, known, bundle = made.steps[0], WAYS[made.steps[0].operation.id], render_build(made)
    for slip in known.slips:
        yield Case(f"{name} {slip}", bundle, script(forced_jobs(made, {(0, ""): slip}))), "0", ""
    for detail in known.details:
        for wrong in ("overlook", *detail.misread) if detail.id in step.knobs else ():
            code = script(forced_jobs(made, {(0, detail.id): wrong}))
            check = f": {detail.id}" if wrong == "overlook" else ""
            yield Case(f"{name} {detail.id}/{wrong}", bundle, code), "0", check


@pytest.mark.engine
@pytest.mark.parametrize("operation", operations().values(), ids=list(operations()))
def test_ways_against_the_real_tests(operation: Operation, arena: Arena) -> None:
    planned = list(cases_of(operation))
    outcomes = arena.run([case for case, _, _ in planned])
    wrong = []
    for (case, reward, check), outcome in zip(planned, outcomes, strict=True):
        named = not check or any(failed.endswith(check) for failed in outcome.failed)
        if outcome.reward != reward or not named:
            wrong.append(f"{case.name}: reward {outcome.reward!r}, wanted {reward}; {outcome.failed}\n{outcome.log}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("operation", operations().values(), ids=list(operations()))
def test_the_policy_knows_what_the_generator_can_do(operation: Operation) -> None:
    known = WAYS[operation.id]
    details = {detail.id: detail for detail in known.details}
    assert {knob.id for knob in operation.knobs} == set(details)
    assert set(known.slips) == set(operation.slips)
    for knob in operation.knobs:
        assert set(details[knob.id].misread) == set(knob.slips), knob.id
