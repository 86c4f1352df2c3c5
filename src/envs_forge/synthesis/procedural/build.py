"""From a composition to its data: choose wordings, make given files, draw parameters, work out every result.

A constraint that could be ignored without harm would teach nothing, and a case that the instruction leaves open
would be unfair. So data is tried until each wrong reading of what is said gives another result, and every reading
of what is not said gives the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from envs_forge.synthesis.procedural.chain import fault
from envs_forge.synthesis.procedural.composition import Composition, Use
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Brief, Knobs, Operation, Params, wrong_readings
from envs_forge.synthesis.procedural.operations import operations
from envs_forge.synthesis.procedural.scenario import Scenario, load_scenario
from envs_forge.synthesis.procedural.sources import source_of
from envs_forge.synthesis.procedural.values.base import Value

TRIES = 210
RECORDS = {1: 12, 2: 24, 3: 48}
PATIENCE = 70
"""After so many tries in vain there is twice as much data, and again: long chains need more to begin with."""


class NoDataError(Exception):
    """No data was found on which every constraint of the composition matters."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a chain with everything that was worked out for it."""

    operation: Operation
    knobs: Knobs
    params: Params
    source: str
    target: str
    value: Any
    """The input: of type `takes`, or a `Brief`."""
    result: Value
    wrong: Mapping[str, Value]
    """What each wrong reading would give."""
    side: str = ""
    """Path of the second input, empty where there is none."""


@dataclass(frozen=True, slots=True)
class Build:
    """A composition with its data."""

    composition: Composition
    scenario: Scenario
    given: Mapping[str, Value]
    """Absolute path → given value."""
    steps: tuple[Step, ...]


def build(composition: Composition) -> Build:
    """Work a composition out.

    Raises:
        NoDataError: No fitting data within `TRIES` tries, or the composition is not valid.
    """
    if reason := fault(composition):
        raise NoDataError(reason)
    dice = Dice("data", composition.digest)
    paths = _paths(composition, load_scenario(composition.scenario))
    for attempt in range(TRIES):
        count = RECORDS[composition.size] * 2 ** (attempt // PATIENCE)
        made = _try(composition, paths, count, dice.fork(attempt))
        if made is not None:
            return made
    raise NoDataError(f"no data fits {composition.uses}")


def _paths(composition: Composition, scenario: Scenario) -> list[str]:
    """The given path and each step's target. Names depend on the seed number and the place, not on the knobs."""
    names = Dice("names", composition.scenario, composition.number)
    head = operations()[composition.uses[0].operation]
    given = head.takes or head.gives
    paths = [f"{scenario.given}/{names.pick(scenario.vocabulary.stems)}{given.suffix}"]
    for use in composition.uses:
        operation = operations()[use.operation]
        if operation.in_place:
            paths.append(paths[-1])
            continue
        suffix = operation.gives.suffix if operation.suffix is None else operation.suffix
        folder = str(PurePosixPath(scenario.given).parent) if operation.plain else scenario.results
        stems = [f"{folder}/{stem}" for stem in names.fork(use.operation).shuffled(operation.stems)]
        stems += [f"{stems[0]}-{i}" for i in range(2, 9)]
        paths.append(next(f"{stem}{suffix}" for stem in stems if f"{stem}{suffix}" not in paths))
    return paths


def _try(composition: Composition, paths: list[str], count: int, dice: Dice) -> Build | None:
    scenario = load_scenario(composition.scenario)
    head = operations()[composition.uses[0].operation]
    features = frozenset(wanted_features(composition.uses))
    brief = Brief(scenario.vocabulary, count, features)
    value: Any = brief
    given: dict[str, Value] = {}
    if head.takes is not None:
        value = source_of(head.takes).make(dice.fork("source"), brief.vocabulary, brief.count, features)
        given[paths[0]] = value
    steps: list[Step] = []
    for i, use in enumerate(composition.uses):
        step = _step(use, value, (paths[i], paths[i + 1]), dice.fork("step", i))
        if step is None:
            return None
        if (side := step.operation.side(step.params)) is not None:
            stems = [stem for stem in scenario.vocabulary.stems if f"/{stem}" not in "".join((*given, *paths))]
            stems = stems or [f"{scenario.vocabulary.stems[0]}-{i + 1}"]
            step = replace(step, side=f"{scenario.given}/{Dice('side', *paths, i).pick(stems)}{side.suffix}")
            given[step.side] = side
        steps.append(step)
        value = step.result
    return Build(composition, scenario, given, tuple(steps))


def wanted_features(uses: tuple[Use, ...]) -> list[str]:
    """Features of the given data that the chain's operations and knobs need, sorted."""
    wanted: set[str] = set()
    for use in uses:
        operation = operations()[use.operation]
        wanted.update(operation.features)
        for name in use.knobs:
            wanted.update(operation.knob(name).features)
    return sorted(wanted)


def _step(use: Use, value: Any, ends: tuple[str, str], dice: Dice) -> Step | None:
    """Draw parameters until every wrong reading shows; None when this data does not allow it."""
    operation, knobs = operations()[use.operation], frozenset(use.knobs)
    for attempt in range(8):
        params = operation.draw(dice.fork(attempt), value, knobs)
        if params is None:
            continue
        result = operation.apply(value, params, knobs)
        step = Step(operation, knobs, params, *ends, value, result, {})
        wrong = _told_apart(step)
        if wrong is not None and _settled(step):
            return replace(step, wrong=wrong)
    return None


def _told_apart(step: Step) -> dict[str, Value] | None:
    right = step.result.canon()
    wrong: dict[str, Value] = {}
    for name, knobs, slip in wrong_readings(step.operation, step.knobs):
        wrong[name] = step.operation.apply(step.value, step.params, knobs, slip)
        if wrong[name].canon() == right:
            return None
    return wrong


def _settled(step: Step) -> bool:
    """Whether no open case occurs: honouring an ambient constraint that is not stated changes nothing."""
    right = step.result.canon()
    for knob in step.operation.knobs:
        clash = step.knobs & {*knob.excludes} or {k for k in step.knobs if knob.id in step.operation.knob(k).excludes}
        if knob.ambient and knob.id not in step.knobs and not clash:
            more = step.operation.apply(step.value, step.params, step.knobs | {knob.id})
            if more.canon() != right:
                return False
    return True
