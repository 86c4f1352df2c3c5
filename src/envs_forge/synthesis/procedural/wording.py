"""The instruction: a scenario's texts around the sentences of the steps."""

from __future__ import annotations

from collections.abc import Sequence

from envs_forge.synthesis.procedural.build import Build, Step
from envs_forge.synthesis.procedural.dice import Dice

FIRST = ("First, ", "To begin with, ", "Start with this: ")
NEXT = ("Then, ", "After that, ", "Next, ")


def instruction(build: Build) -> str:
    """Markdown: title, story, one item or paragraph a step."""
    scenario, dice = build.scenario, _dice(build)
    items = [" ".join(text for _, text in said(step, _step_dice(build, i))) for i, step in enumerate(build.steps)]
    parts = [f"# {dice.pick(scenario.titles)}", dice.pick(scenario.intros)]
    layout = dice.pick(("numbered", "bullets", "prose"))
    if layout == "prose" or len(items) == 1:
        parts += _prose(items, dice)
    else:
        marks = [f"{i}. " if layout == "numbered" else "- " for i in range(1, len(items) + 1)]
        parts += [dice.pick(scenario.leads), "\n".join(mark + item for mark, item in zip(marks, items, strict=True))]
    return "\n\n".join(parts) + "\n"


def labelled(build: Build) -> dict[tuple[int, str], str]:
    """(step, knob id or empty for the base clause) → its sentence as it stands in the instruction, but for openers."""
    steps = enumerate(build.steps)
    return {(i, knob): text for i, step in steps for knob, text in said(step, _step_dice(build, i))}


def _dice(build: Build) -> Dice:
    composition = build.composition
    return Dice("wording", composition.scenario, composition.number, composition.wording)


def _step_dice(build: Build, place: int) -> Dice:
    """Wordings of a step stay the same when another step or knob comes to it."""
    return _dice(build).fork(place, build.steps[place].operation.id)


def said(step: Step, dice: Dice) -> list[tuple[str, str]]:
    """The sentences of a step, each with the id of its knob; the base clause comes first, with an empty id."""
    operation = step.operation
    ends = {"source": f"`{step.source}`", "target": f"`{step.target}`", "side": f"`{step.side}`"}
    slots = {**operation.slots(step.params), **ends}
    chosen = [("", dice.pick(operation.said))]
    knobs = [knob for knob in operation.knobs if knob.id in step.knobs]
    chosen += [(knob.id, dice.fork(knob.id).pick(knob.said)) for knob in dice.shuffled(knobs)]
    return [(name, text.format(**slots)) for name, text in chosen]


def _prose(items: Sequence[str], dice: Dice) -> list[str]:
    if len(items) == 1:
        return list(items)
    openers = [dice.pick(FIRST), *(dice.pick(NEXT) for _ in items[1:])]
    return [opener + _lower(item) for opener, item in zip(openers, items, strict=True)]


def _lower(text: str) -> str:
    """The text as it goes on after an opener."""
    return text[0].lower() + text[1:]
