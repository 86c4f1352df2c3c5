"""Are the skills that had to be preserved still to be seen?

Static reading sees artifacts (kinds of files) and tools reliably, but operations and constraints only in some of the
words that people use for them. So the former are looked for in the texts. For the latter the skills count that the
candidate itself declares in its metadata, where it does, beside those that its texts show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from envs_forge.bundle.model import Bundle
from envs_forge.plan.tagging import TaskTexts, tag
from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.tagging import SkillSource, skills_of_bundle, texts_of

_ARTIFACT, _TOOL = "artifact/", "tool/"
_DECLARED = ("operation/", "constraint/")


def lost_skills(parent: Bundle, candidate: Bundle, required: Iterable[str]) -> Iterator[Finding]:
    """Required skills that the parent shows and the candidate does not."""
    wanted = frozenset(required)
    before, after = texts_of(parent), texts_of(candidate)
    told = _in_instruction(before) - _in_instruction(after)
    used = _tagged(before) - _tagged(after)
    lost = {skill for skill in wanted & told if skill.startswith(_ARTIFACT)}
    lost |= {skill for skill in wanted & used if skill.startswith((_ARTIFACT, _TOOL))}
    if lost:
        evidence = f"{_listed(lost)} had to be preserved and cannot be seen in the instruction or the solution"
        yield Finding(AuditCode.SKILL_LOST, evidence, "instruction.md")
    untested = _lost_from_tests(before, after, wanted)
    if untested:
        evidence = f"{_listed(untested)} had to be preserved, but no test looks at such a file any more"
        yield Finding(AuditCode.SKILL_LOST, evidence, "tests")
    declared = skills_of_bundle(candidate)
    if declared.source is not SkillSource.METADATA:
        return
    missing = {skill for skill in wanted - {*declared.skills} - _tagged(after) if skill.startswith(_DECLARED)}
    if missing:
        evidence = (
            f"{_listed(missing)} had to be preserved, and is neither to be seen in the texts nor among the `skills` "
            "that the metadata declare"
        )
        yield Finding(AuditCode.SKILL_LOST, evidence, "task.toml")


def _lost_from_tests(before: TaskTexts, after: TaskTexts, wanted: frozenset[str]) -> set[str]:
    """Required artifacts that tests looked at before, when nothing that was told or is tested now is left of them."""
    tested, now = _in_tests(before) & wanted, _in_tests(after)
    gone = {skill for skill in tested - now if skill.startswith(_ARTIFACT)}
    return gone if gone and not tested & now and not gone & _in_instruction(after) else set()


def _in_instruction(texts: TaskTexts) -> frozenset[str]:
    return _tagged(TaskTexts(instruction=texts.instruction))


def _in_tests(texts: TaskTexts) -> frozenset[str]:
    return _tagged(TaskTexts(instruction="", tests=texts.tests))


@lru_cache(maxsize=64)
def _tagged(texts: TaskTexts) -> frozenset[str]:
    return frozenset(tag(texts))


def _listed(skills: Iterable[str]) -> str:
    return ", ".join(sorted(skills))
