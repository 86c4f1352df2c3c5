"""The skills that an answer declares in its metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping

from envs_forge.plan.skills import load_graph

KEY = "skills"
_BETWEEN = re.compile(r"[\s,;\[\]\"'`]+")


def declared_skills(meta: Mapping[str, str]) -> tuple[str, ...]:
    """Ids of the skill graph that stand under `skills`, sorted. A model's own words for a skill declare nothing."""
    known = load_graph().nodes
    names = (name.rstrip(".").lower() for name in _BETWEEN.split(meta.get(KEY, "")))
    return tuple(sorted({name for name in names if name in known}))
