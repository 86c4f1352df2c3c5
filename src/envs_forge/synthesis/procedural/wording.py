"""The instruction: a scenario's texts around the sentences of the steps."""

from __future__ import annotations

from collections.abc import Sequence

from envs_forge.synthesis.procedural.build import Build, Step
from envs_forge.synthesis.procedural.dice import Dice

FIRST = ("First, ", "To begin with, ", "Start with this: ")
NEXT = ("Then, ", "After that, ", "Next, ")


def instruction(build: Build) -> str:
    """Markdown: title, story, one item or paragraph a step."""
    composition, scenario = build.composition, build.scenario
    dice = Dice("wording", composition.scenario, composition.number, composition.wording)
    items = [" ".join(sentences(step, dice.fork(i, step.operation.id))) for i, step in enumerate(build.steps)]
    parts = [f"# {dice.pick(scenario.titles)}", dice.pick(scenario.intros)]
    layout = dice.pick(("numbered", "bullets", "prose"))
    if layout == "prose" or len(items) == 1:
        parts += _prose(items, dice)
    else:
        marks = [f"{i}. " if layout == "numbered" else "- " for i in range(1, len(items) + 1)]
        parts += [dice.pick(scenario.leads), "\n".join(mark + item for mark, item in zip(marks, items, strict=True))]
    return "\n\n".join(parts) + "\n"


def sentences(step: Step, dice: Dice) -> list[str]:
    """The base clause and one sentence for each knob, in a random order."""
    operation = step.operation
    slots = {**operation.slots(step.params), "source": f"`{step.source}`", "target": f"`{step.target}`"}
    said = [dice.pick(operation.said)]
    knobs = [knob for knob in operation.knobs if knob.id in step.knobs]
    said += [dice.fork(knob.id).pick(knob.said) for knob in dice.shuffled(knobs)]
    return [text.format(**slots) for text in said]


def _prose(items: Sequence[str], dice: Dice) -> list[str]:
    if len(items) == 1:
        return list(items)
    openers = [dice.pick(FIRST), *(dice.pick(NEXT) for _ in items[1:])]
    return [opener + _lower(item) for opener, item in zip(openers, items, strict=True)]


def _lower(text: str) -> str:
    """The text as it goes on after an opener."""
    return text[0].lower() + text[1:]
