"""Sound children must pass: a false alarm costs a paid draw."""

import pytest

from envs_forge.plan.model import ACTIONS
from envs_forge.synthesis.audit.check import audit
from envs_forge.synthesis.audit.direction import measures, wrong_direction
from envs_forge.synthesis.audit.giveaway import given_away
from envs_forge.synthesis.audit.mismatch import mismatched
from envs_forge.synthesis.audit.model import AuditCode
from envs_forge.synthesis.audit.stated import unstated_keys, unstated_numbers, unstated_paths
from envs_forge.synthesis.audit.statements import Statements
from envs_forge.synthesis.overlap.corpus import Corpus

from ..scripted.faults import with_files
from .children import child, children, corpus, seed, seeds

TRULY_UNCHANGED = 0.02
"""Share of the procedural generator's children of which a part of the edit mask really means what it meant."""


def test_children_of_all_six_actions_pass():
    pool, seen = corpus(), set()
    for parent, made, asked in children((3, 28, 43)):
        assert audit(parent, made, asked, pool=pool) == (), (parent.id, str(asked.action))
        pool.add(made)
        seen.add(asked.action)
    assert seen == set(ACTIONS)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_of_hundreds_of_children_only_those_with_an_unchanged_part_are_held_back():
    pool, held, total = Corpus(seeds()), [], 0
    for parent, made, asked in children(range(len(seeds()))):
        found = audit(parent, made, asked, pool=pool)
        held += [(parent.id, str(asked.action), finding) for finding in found]
        total += 1
        pool.add(made)
    assert total > 300
    assert {finding.code for *_, finding in held} <= {AuditCode.PART_UNCHANGED}, held
    assert len(held) <= TRULY_UNCHANGED * total, held


def test_tasks_written_by_people_state_what_they_test(pytestconfig):
    from envs_forge.bundle.reading import read_bundle

    nothing = Statements(seed(60))
    for path in sorted((pytestconfig.rootpath / "examples" / "tasks").iterdir()):
        if path.is_dir():
            what = Statements(read_bundle(path))
            found = [*unstated_paths(what), *unstated_keys(what), *unstated_numbers(what)]
            found += [*mismatched(what, nothing), *given_away(what, nothing)]
            assert found == [], path.name


def test_the_measures_of_a_seed_follow_its_size():
    small, large = measures(seed(3)), measures(seed(49))
    assert all(small[name] < large[name] for name in ("constraints", "commands", "checks in JSON", "systems"))


def test_another_style_of_tests_and_solution_is_no_change_of_direction():
    parent = seed(3)
    made, asked = child(parent, "increase/in_depth")
    other = with_files(
        made,
        {
            "environment/Dockerfile": "FROM debian:12.11-slim\nCOPY data/ /app/\n",
            "solution/solve.sh": "#!/bin/bash\nawk -F, '$2 == 1' /app/build/parts.csv > /app/release/matching.csv\n",
            "tests/expected.json": "{}\n",
            "tests/check.py": "assert open('/app/release/matching.csv').read()\n",
        },
    )
    assert list(wrong_direction(parent, other, asked.action.projection)) == []


def test_a_second_child_of_one_seed_and_action_is_no_copy_of_the_first():
    parent, pool = seed(28), corpus()
    for slot in range(3):
        made = child(parent, "diversify/in_depth", slot=slot)
        assert made is not None
        assert audit(parent, *made, pool=pool) == ()
        pool.add(made[0].model_copy(update={"id": f"child-{slot}"}))
