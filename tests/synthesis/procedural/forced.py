"""Make the builtin policy take chosen ways, right ones by default, and see what it would run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.reader import Job, Option, understand
from envs_forge.synthesis.procedural.build import Build
from envs_forge.synthesis.procedural.wording import instruction, labelled


class NotReadableError(AssertionError):
    """The policy has no such way for a sentence."""


def forced_jobs(made: Build, ways: Mapping[tuple[int, str], str] | None = None) -> list[Job]:
    """Read a build's instruction.

    Args:
        made: What to read.
        ways: (step, knob id or empty for the base clause) → name of the way; right ones where nothing is said.
    """
    ways = ways or {}
    spoken = {tail(text): key for key, text in labelled(made).items()}

    def choose(place: int, clause: Clause, options: Sequence[Option]) -> int:
        ids = [option.way.id for option in options]
        key = spoken.get(tail(clause.text))
        if key is None:
            raise NotReadableError(f"taken for a step or a detail: {clause.text!r} {ids}")
        operation = made.steps[key[0]].operation.id
        name = ways.get(key, "honour" if key[1] else "do")
        wanted = f"{operation}.{key[1]}/{name}" if key[1] else f"{operation}/{name}"
        if wanted not in ids:
            raise NotReadableError(f"{wanted} does not fit {clause.text!r}: {ids}")
        taken.add(key)
        return ids.index(wanted)

    taken: set[tuple[int, str]] = set()
    jobs, unknown = understand(instruction(made), choose)
    missed = [text for text, key in spoken.items() if key not in taken]
    if missed or unknown:
        raise NotReadableError(f"no way fits: {missed or unknown}")
    return jobs


def script(jobs: Sequence[Job]) -> str:
    """What the jobs run."""
    return "\n".join(f"(\n{job.command()}\n)" for job in jobs)


def tail(text: str) -> str:
    """The text without its first word, which an opener may have changed."""
    return text[-60:]
