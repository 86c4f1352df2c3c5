"""Chains of several steps on real tests: what one operation writes, the next one can read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby

import pytest

from envs_forge.synthesis.procedural.build import Build, NoDataError, build
from envs_forge.synthesis.procedural.composition import Composition, Use
from envs_forge.synthesis.procedural.render import render_build
from synthesis.procedural.arena import Arena, Case, oracle
from synthesis.procedural.forced import forced_jobs, script
from synthesis.procedural.grown import grown


def chains() -> Iterator[Build]:
    """One chain for each operation that it grew from."""
    for _, compositions in groupby(grown(4), key=lambda composition: composition.number):
        with suppress(NoDataError):
            yield build(list(compositions)[-1])


@pytest.mark.engine
def test_the_right_way_through_a_chain_passes(arena: Arena) -> None:
    cases: list[Case] = []
    for made in chains():
        bundle, operations = render_build(made), "+".join(use.operation for use in made.composition.uses)
        name = f"{operations} {made.composition.digest}"
        cases.append(Case(f"{name} oracle", bundle, oracle(bundle), whole=True))
        cases.append(Case(f"{name} untouched", bundle, "", whole=True))
        cases.append(Case(f"{name} right", bundle, script(forced_jobs(made))))
    assert len(cases) > 12
    wrong = [o for o in arena.run(cases) if o.reward != ("0" if o.name.endswith("untouched") else "1")]
    assert [(o.name, o.reward, o.failed, o.log[-500:]) for o in wrong] == []


@pytest.mark.engine
@pytest.mark.parametrize("name", ["rename_file", "move_file", "delete_file", "make_executable"])
def test_names_with_spaces_behind_a_plain_operation(name: str, arena: Arena) -> None:
    uses = (Use(operation=name), Use(operation="rename_files", knobs=("spaces",)))
    cases: list[Case] = []
    for number in range(3):
        made = build(Composition(scenario="audit", number=number, uses=uses))
        bundle = render_build(made)
        cases.append(Case(f"{number} oracle", bundle, oracle(bundle), whole=True))
        cases.append(Case(f"{number} right", bundle, script(forced_jobs(made))))
    assert [(o.name, o.failed, o.log[-300:]) for o in arena.run(cases) if o.reward != "1"] == []
