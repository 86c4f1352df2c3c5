"""Which skills of a model's answer count: those that its metadata declare, beside those that its texts show."""

import pytest

from envs_forge.plan.tagging import tag
from envs_forge.synthesis.audit.skills import lost_skills
from envs_forge.synthesis.llm.envelope import write_envelope
from envs_forge.synthesis.llm.parsing import parse_answer
from envs_forge.synthesis.tagging import skills_of_bundle, texts_of

from .children import child, seed

UNSEEN = "operation/top-k"


def answered(skills):
    """A sound child as a model would answer it, its required skills, and what its texts show."""
    parent = seed(3)
    made, asked = child(parent, "increase/in_depth")
    files = {path: file for path, file in made.files.items() if path != "task.toml"}
    meta = {"change": "x", **({"skills": ", ".join(skills)} if skills else {})}
    bundle, _ = parse_answer(write_envelope(made.model_copy(update={"files": files}), meta=meta), parent)
    return parent, bundle, asked.required, tag(texts_of(made))


@pytest.mark.parametrize("skills", [(), ("sorting", "tie breaks")])
def test_where_nothing_is_declared_only_the_texts_count(skills):
    parent, bundle, required, _ = answered(skills)
    assert list(lost_skills(parent, bundle, (*required, UNSEEN))) == []


def test_what_is_declared_is_not_lost():
    _, _, required, _ = answered(())
    parent, bundle, _, _ = answered((*required, UNSEEN))
    assert {*required, UNSEEN} <= {*skills_of_bundle(bundle).skills}
    assert list(lost_skills(parent, bundle, (*required, UNSEEN))) == []


@pytest.mark.parametrize("unseen", [UNSEEN, "constraint/exclusions"])
def test_an_operation_or_constraint_that_is_neither_declared_nor_seen_is_lost(unseen):
    _, _, required, _ = answered(())
    parent, bundle, _, _ = answered(required)
    (found,) = lost_skills(parent, bundle, (*required, unseen))
    assert (found.code, found.where) == ("skill-lost", "task.toml")
    assert found.evidence.startswith(f"{unseen} had to be preserved")


def test_what_the_texts_show_need_not_be_declared():
    parent, bundle, required, seen = answered((UNSEEN,))
    shown = [skill for skill in seen if skill.startswith(("artifact/", "operation/"))]
    assert any(skill.startswith("operation/") for skill in shown)
    assert list(lost_skills(parent, bundle, shown)) == []
    others = [skill for skill in required if skill not in seen]
    lost = [finding.evidence for finding in lost_skills(parent, bundle, required)]
    assert all(skill in " ".join(lost) for skill in others if skill.startswith(("operation/", "constraint/")))
    assert not any(skill in " ".join(lost) for skill in required if skill.startswith(("artifact/", "domain/", "tool/")))
