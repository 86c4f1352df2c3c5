"""The contract of an operation: data, wording, oracle and checks of one step, from one file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.values.base import Value

Params = Mapping[str, Any]
"""What an operation drew for itself when it saw its input."""
Knobs = frozenset[str]
"""Ids of the knobs that are on."""


class Place(Enum):
    """Where in a chain a knob may be turned on."""

    ANY = "any"
    FIRST = "first"
    """Only where the input is a given file: the knob is about how that file is written."""
    LAST = "last"
    """Only where nothing reads the output: the knob is about how that file is written."""


@dataclass(frozen=True, slots=True)
class Knob:
    """A constraint that can be turned on.

    Attributes:
        id: Unique within the operation. The same idea has the same id in every operation.
        skill: Node of the skill graph, e.g. `constraint/ties`.
        said: Wordings of the one sentence that states it. `{…}` are the operation's slots.
        features: What the given data must contain for it to matter; see `sources/`.
        slips: Misreadings beyond overlooking it. The data is made so that each gives another result.
        ambient: The sentence settles a case that the base clause leaves open (ties, blanks): while the knob is off,
            the data must not contain that case. False: the sentence asks for something else than the base clause.
        place: Where it may be used.
        excludes: Knobs of the same operation that contradict it.
    """

    id: str
    skill: str
    said: tuple[str, ...]
    features: tuple[str, ...] = ()
    slips: tuple[str, ...] = ()
    ambient: bool = True
    place: Place = Place.ANY
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Paths:
    """Absolute paths of one step, quoted for the shell. `side` is empty for an operation without a second input."""

    source: str
    target: str
    side: str = ""


@dataclass(frozen=True, slots=True)
class Brief:
    """What an operation without an input (`takes = None`) gets in its place, to make data of its own."""

    vocabulary: Vocabulary
    count: int
    features: frozenset[str]


class Operation(ABC):
    """One kind of step. Stateless; every file under `operations/` has one as `OPERATION`."""

    id: ClassVar[str]
    title: ClassVar[str]
    """A few words for the names of checks."""
    takes: ClassVar[type[Value] | None]
    """Type of its input. None: it stands at the head of a chain, gets a `Brief` instead and brings its own data
    (a local service)."""
    gives: ClassVar[type[Value]]
    skills: ClassVar[tuple[str, ...]]
    """Nodes of the skill graph that every instance exercises: domain, artifact, operation."""
    said: ClassVar[tuple[str, ...]]
    """Wordings of the base clause. `{source}`, `{target}`, `{side}` come in backticks; slots as they are."""
    stems: ClassVar[tuple[str, ...]]
    """Names for what it writes, without the ending."""
    suffix: ClassVar[str | None] = None
    """Ending of the output's name where it is not the usual one of its type."""
    features: ClassVar[tuple[str, ...]] = ()
    """What the given data must contain for the base clause to matter."""
    knobs: ClassVar[tuple[Knob, ...]] = ()
    effort: ClassVar[int] = 1
    """What the base clause weighs beside knobs, which weigh 1 each. A live service weighs 2."""
    fixture: ClassVar[str] = ""
    """For a step that needs a live service: the operation that does the same from a given file."""
    slips: ClassVar[tuple[str, ...]] = ()
    """Plausible wrong ways of the base clause. The data is made so that each gives another result."""
    plain: ClassVar[bool] = False
    """One everyday command. It writes beside the directory of the given files, so that none has to be made first."""
    in_place: ClassVar[bool] = False
    """It changes what is given where it lies, so it comes first in a chain; source and target are the same."""

    @abstractmethod
    def draw(self, dice: Dice, value: Any, knobs: Knobs) -> Params | None:
        """Choose parameters for this input. None: nothing fits, other data has to be tried."""

    @abstractmethod
    def apply(self, value: Any, params: Params, knobs: Knobs, slip: str = "") -> Value:
        """The independent reference: what the step must give.

        Args:
            value: The input, of type `takes`.
            params: From `draw`.
            knobs: Which constraints count.
            slip: Name of a wrong way to imitate (`slips`, or `knob:slip` for a misread knob); empty for the right one.
        """

    @abstractmethod
    def slots(self, params: Params) -> Mapping[str, str]:
        """Texts for the `{…}` of its wordings (without backticks; the wordings have them)."""

    @abstractmethod
    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Shell code that computes the answer from the data."""

    def side(self, params: Params) -> Value | None:
        """A second input that it needs and that is given as a file of its own (the other table of a join)."""
        return None

    def system(self, params: Params) -> Mapping[str, BundleFile]:
        """Programs that belong to the image, such as a service: `folder/path` → file, found at `/opt/folder/path`."""
        return {}

    def knob(self, name: str) -> Knob:
        """The knob with this id.

        Raises:
            KeyError: There is none.
        """
        return {knob.id: knob for knob in self.knobs}[name]


def wrong_readings(operation: Operation, knobs: Knobs) -> Sequence[tuple[str, Knobs, str]]:
    """Every wrong way that must be told from the right one: name, knobs to apply with, slip.

    Overlooking a knob is named by the knob's id, a misread knob `knob:slip`, a wrong base clause by its slip.
    """
    wrong: list[tuple[str, Knobs, str]] = [(slip, knobs, slip) for slip in operation.slips]
    for knob in operation.knobs:
        if knob.id in knobs:
            wrong.append((knob.id, knobs - {knob.id}, ""))
            wrong += [(f"{knob.id}:{slip}", knobs, f"{knob.id}:{slip}") for slip in knob.slips]
    return wrong
