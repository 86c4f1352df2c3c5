"""Same number, same bytes; sound by the static checks; readable by the policy; nothing of the tests in the image."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from envs_forge.bundle import Bundle, check_bundle
from envs_forge.plan.skills import load_graph
from envs_forge.synthesis.procedural.build import build
from envs_forge.synthesis.procedural.chain import fault_of
from envs_forge.synthesis.procedural.composition import Composition, Use, read_composition
from envs_forge.synthesis.procedural.operation import Operation
from envs_forge.synthesis.procedural.operations import operations
from envs_forge.synthesis.procedural.render import render, skills_of
from envs_forge.synthesis.procedural.scenario import load_scenario, scenario_ids
from synthesis.procedural.forced import forced_jobs

EVERY = list(operations().values())
IDS = [operation.id for operation in EVERY]


def digest(bundle: Bundle) -> str:
    lines = [f"{p} {f.mode:o} {f.target} {hashlib.sha256(f.data).hexdigest()}" for p, f in sorted(bundle.files.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def pairs() -> list[tuple[Use, ...]]:
    """Each operation alone with all its first knob, and each two that fit together."""
    single = [(Use(operation=o.id, knobs=tuple(k.id for k in o.knobs[:1])),) for o in EVERY]
    double = [(Use(operation=a.id), Use(operation=b.id)) for a in EVERY for b in EVERY]
    return single + [uses for uses in double if not fault_of(uses)]


def test_same_number_same_bytes_in_another_process_with_other_settings() -> None:
    code = (
        "from synthesis.procedural.test_render import *\n"
        "print([digest(render(Composition(scenario='incident', number=7, uses=uses))) for uses in pairs()])"
    )
    outputs = set()
    for settings in ({"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C"}, {"PYTHONHASHSEED": "77", "TZ": "UTC"}):
        environment = {**os.environ, **settings, "PYTHONPATH": "tests", "PYTHONUTF8": "0"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_other_numbers_give_other_bundles() -> None:
    uses = pairs()[0]
    assert len({digest(render(Composition(scenario="release", number=n, uses=uses))) for n in range(5)}) == 5


@pytest.mark.parametrize("uses", pairs(), ids=lambda uses: "+".join(use.operation for use in uses))
def test_every_chain_of_fitting_types_renders_a_sound_bundle(uses: tuple[Use, ...]) -> None:
    composition = Composition(scenario=scenario_ids()[len(uses) % 2], number=11, uses=uses)
    bundle = render(composition)
    assert check_bundle(bundle) == []
    assert read_composition(bundle.provenance) == composition
    assert not bundle.config.environment.network
    assert list(bundle.provenance["skills"]) == list(skills_of(composition))
    for path, file in bundle.files.items():
        if path.startswith("environment/"):
            assert bundle.files["tests/expected.json"].data not in file.data
            assert b"expected.json" not in file.data


@pytest.mark.parametrize("operation", EVERY, ids=IDS)
def test_no_result_lies_in_the_environment(operation: Operation) -> None:
    made = build(Composition(scenario="incident", number=3, uses=(Use(operation=operation.id),)))
    given = {path: file.data for value in made.given for path, file in made.given[value].files(value).items()}
    for path, file in made.steps[-1].result.files("/x").items():
        if len(made.steps[-1].result.files("/x")) == 1:
            assert file.data not in given.values(), path


@pytest.mark.parametrize("operation", EVERY, ids=IDS)
def test_every_wording_is_readable_by_the_policy(operation: Operation) -> None:
    knobs = tuple(sorted(knob.id for knob in operation.knobs if not knob.excludes))
    heard = set()
    for number in range(6):
        for scenario in scenario_ids():
            for chosen in ((), knobs):
                composition = Composition(
                    scenario=scenario, number=number, wording=number, uses=(Use(operation=operation.id, knobs=chosen),)
                )
                made = build(composition)
                forced_jobs(made)
                heard.add(render(composition).instruction)
    assert len(heard) > 12


@pytest.mark.parametrize("operation", EVERY, ids=IDS)
def test_skills_are_nodes_of_the_graph(operation: Operation) -> None:
    graph = load_graph()
    assert graph.unknown([*operation.skills, *(knob.skill for knob in operation.knobs)]) == ()
    assert {skill.partition("/")[0] for skill in operation.skills} >= {"domain", "artifact", "operation"}
    for knob in operation.knobs:
        assert len(knob.said) >= 3
    assert len(operation.said) >= 3


@pytest.mark.parametrize("name", scenario_ids())
def test_scenarios_have_enough_variables_and_no_paths(name: str) -> None:
    scenario = load_scenario(name)
    assert len(scenario.variables) >= 16
    assert not any("/" in text or "`" in text for text in (*scenario.intros, *scenario.leads, *scenario.titles))


def test_modes_that_a_check_looks_at_do_not_come_from_the_checkout() -> None:
    dockerfile = render(Composition(scenario="audit", number=1, uses=(Use(operation="make_executable"),))).files[
        "environment/Dockerfile"
    ]
    assert b"-exec chmod u=rwX,go=rX" in dockerfile.data
