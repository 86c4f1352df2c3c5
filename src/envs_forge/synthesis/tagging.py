"""Skills of any task: what its metadata says, else what its texts betray."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.plan.tagging import Hook, TaskTexts, tag
from envs_forge.synthesis.bounded import bounded, within_budget

_MOST = 200_000
"""Bytes of one file that are read."""


class SkillSource(StrEnum):
    """Where the skills of a task come from."""

    METADATA = "metadata"
    TEXTS = "texts"
    NONE = "none"


@dataclass(frozen=True)
class TaggedSkills:
    """Skills of a task, sorted, and where they come from."""

    skills: tuple[str, ...]
    source: SkillSource


def skills_of_bundle(bundle: Bundle, *, hook: Hook | None = None) -> TaggedSkills:
    """Skills of a task.

    `skills` of `[metadata.envs_forge]`, else of `[metadata]`, where it is a list that is not empty; else those that
    `plan.tagging` reads from the texts, with what `hook` adds.
    """
    for table in (bundle.provenance, bundle.config.metadata):
        named = table.get("skills")
        if isinstance(named, list) and named and all(isinstance(name, str) for name in named):
            return TaggedSkills(tuple(sorted(set(named))), SkillSource.METADATA)
    found = tag(texts_of(bundle), hook=hook)
    return TaggedSkills(found, SkillSource.TEXTS if found else SkillSource.NONE)


def texts_of(bundle: Bundle) -> TaskTexts:
    """The texts of a bundle that tell of its skills; binary files are skipped."""
    files = bundle.files
    return TaskTexts(
        instruction=bounded(bundle.instruction),
        solution=_texts({path: file for path, file in files.items() if path.startswith("solution/")}),
        dockerfile=_texts({path: file for path, file in files.items() if path == "environment/Dockerfile"}),
        tests=_texts({path: file for path, file in files.items() if path.startswith("tests/")}),
    )


def _texts(files: dict[str, BundleFile]) -> str:
    parts = ((path, file.data[:_MOST]) for path, file in sorted(files.items()) if file.target is None)
    texts = ((path, bounded(_decoded(data))) for path, data in parts if b"\0" not in data)
    return "\n\n".join(within_budget(texts).values())


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
