"""What the scripted model reads in a prompt: seed, action, skills, try, whether it is a repair."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.plan.model import Action, Direction, Projection
from envs_forge.synthesis.generator import Assignment

_KEEP = re.compile(r"^- Skills to preserve[^:]*: (.*)\.$", re.M)
_ADD = re.compile(r"^- Skills to add[^:]*: (.*)\.$", re.M)


@dataclass(frozen=True)
class Asked:
    """An assignment as a prompt tells it.

    Attributes:
        number: The request's sampling seed: no two attempts have the same, and a retry has the same.
        parent: The seed that the prompt shows.
        assignment: With what the prompt says of it; a slot of the number, so that each attempt gets another child.
        repair: Whether the last message says what was wrong with an earlier answer.
    """

    number: int
    parent: Bundle
    assignment: Assignment
    repair: bool


def read_prompt(body: Mapping[str, Any], seeds: Sequence[Bundle]) -> Asked:
    """Read a request. Raises `LookupError` where it is no prompt of the contract about one of the seeds."""
    texts = [message["content"] for message in body["messages"] if message["role"] == "user"]
    told = texts[0]
    shown = [seed for seed in seeds if seed.instruction.strip()[:400] in told]
    projection, direction = (
        re.search(r"^- Projection (\w+):", told, re.M),
        re.search(r"^- Direction (\w+):", told, re.M),
    )
    if not shown or projection is None or direction is None:
        raise LookupError(told[-2000:])
    parent = max(shown, key=lambda seed: len(seed.instruction))
    rate = re.search(r"passes ([\d.]+) of (\d+) tries", told)
    tried = re.search(r"This is try (\d+)", told)
    assignment = Assignment(
        slot=body["seed"] % 99991,
        draw=int(tried[1]) - 1 if tried else 0,
        seed_id=parent.id,
        seed_hash=content_hash(parent),
        action=Action(projection=Projection(projection[1]), direction=Direction(direction[1])),
        recipe="forge",
        pass_rate=0.5,
        k=float(rate[1]) if rate else 0,
        n=int(rate[2]) if rate else 0,
        predicted=0.5,
        frontier_score=1.0,
        required=_skills(_KEEP, told),
        optional=_skills(_ADD, told),
    )
    return Asked(body["seed"], parent, assignment, "was rejected" in texts[-1])


def _skills(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    found = pattern.search(text)
    return tuple(found[1].split(", ")) if found else ()
