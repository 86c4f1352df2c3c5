"""Ways of doing things: what the builtin policy can choose between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from envs_forge.rollout.policies.builtin.clauses import Clause

Reading = Mapping[str, Any]
"""What a pattern read from a clause; `source` and `target` are paths."""
Options = Mapping[str, Any]
"""What a way sets for the command."""

RIGHT = frozenset({"do", "honour"})
"""Names of ways that mean what the words say. Only the initial weights, pools of studies and the tests look at this."""


class Stance(StrEnum):
    """What a way does with its clause; shared between all operations, so that attention to detail can be learned."""

    DO = "do"
    SLIP = "slip"
    HONOUR = "honour"
    OVERLOOK = "overlook"
    MISREAD = "misread"


@dataclass(frozen=True, slots=True)
class Way:
    """One way of taking a clause.

    Attributes:
        id: `operation/name` for a base clause, `operation.detail/name` for a detail.
        family: What it shares weights with beyond its own: the operation, or the detail's name in any operation.
        stance: See `Stance`.
        cues: Words that make one think of it.
        options: What it sets for the command.
    """

    id: str
    family: str
    stance: Stance
    cues: frozenset[str]
    options: Options

    @property
    def right(self) -> bool:
        """Whether it means what the words say."""
        return self.stance in (Stance.DO, Stance.HONOUR)


def nothing_more(clause: Clause) -> Reading | None:
    """Reader of a detail that needs no name or number from its sentence."""
    return {}


@dataclass(frozen=True, slots=True)
class Detail:
    """A constraint sentence that the policy may honour, overlook or misread.

    Attributes:
        id: As the generator's knob, so that the same idea shares weights across operations.
        cues: Words of which at least one must be in the sentence.
        honour: Options when it is read right. `overlook` sets none.
        misread: Name → options of plausible wrong readings.
        read: Takes names and numbers from the sentence; None when they are not there.
    """

    id: str
    cues: frozenset[str]
    honour: Options
    misread: Mapping[str, Options]
    read: Callable[[Clause], Reading | None] = nothing_more


@dataclass(frozen=True, slots=True)
class OperationWays:
    """Everything the policy knows about one kind of step.

    Attributes:
        operation: As the generator's operation.
        cues: Words of which at least one must be in the clause.
        read: Takes paths, names and numbers from the clause; the second argument is what the step before wrote.
            None when something is missing.
        slips: Name → options of wrong ways of the base clause; the right one, `do`, sets none.
        details: The constraint sentences.
        command: Shell code from what was read and the options that were chosen.
    """

    operation: str
    cues: frozenset[str]
    read: Callable[[Clause, str | None], Reading | None]
    slips: Mapping[str, Options]
    details: tuple[Detail, ...]
    command: Callable[[Reading, Options], str]

    def base_ways(self) -> tuple[Way, ...]:
        """The right way and its near misses."""
        own = self.operation
        do = Way(f"{own}/do", own, Stance.DO, self.cues, {})
        return (do, *(Way(f"{own}/{n}", own, Stance.SLIP, self.cues, options) for n, options in self.slips.items()))

    def detail_ways(self, detail: Detail) -> tuple[Way, ...]:
        """Honour, overlook, and each misreading."""
        own = f"{self.operation}.{detail.id}"
        named = [("honour", Stance.HONOUR, detail.honour), ("overlook", Stance.OVERLOOK, {})]
        named += [(name, Stance.MISREAD, options) for name, options in detail.misread.items()]
        return tuple(Way(f"{own}/{name}", detail.id, stance, detail.cues, o) for name, stance, o in named)
