"""Which reward can be there when a test script ends? The answer, as data.

The state is the set of rewards that may lie in the reward file: None for no file, a constant as written, or `?` for
something that is not known here. A path exists when no condition rules it out on sight, so two conditions that exclude
each other are not seen to; rules that need certainty look at the shape of the script as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

UNKNOWN = "?"
States = frozenset[str | None]
NOWHERE: States = frozenset()
_REWARD_FILE = re.compile(r"reward\.(?:txt|json)$")
_REWARD_VARIABLE = re.compile(r"\$\{?\w*reward\w*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class End:
    """One place where the script can end. `cause` is `end`, `exit` or `errexit`."""

    rewards: States
    line: int
    cause: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """One place where a reward is written: the file as written, and the value."""

    line: int
    target: str
    value: str


@dataclass(slots=True)
class Flow:
    """What the walk found. `gaps` are conditions without a branch that writes in the other case."""

    ends: list[End] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    gaps: list[int] = field(default_factory=list)
    delegated: bool = False
    """Whether something else than the script may have written the reward."""


def is_reward_file(text: str) -> bool:
    """Whether a redirect's target is the reward file, as far as one can see."""
    return bool(_REWARD_FILE.search(text) or _REWARD_VARIABLE.search(text))
