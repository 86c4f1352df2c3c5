"""Logs of services.

Features: `level_case` (levels in several capitalisations), `cut_lines` (lines that break off), `crlf`; of the features
of tables those that concern labels.
"""

from __future__ import annotations

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Vocabulary
from envs_forge.synthesis.procedural.sources import table
from envs_forge.synthesis.procedural.values.log import Event, Log

LEVELS = ("error", "warn", "info")
OF_LABELS = frozenset({"blank_label", "case", "compound", "padding"})
SPELLINGS = (str.upper, str.capitalize)


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Log:
    """A log about six to ten things: for one of the levels each has another number of lines, at least one has ten."""
    many = min(10, 5 + count // 12)
    units = table.make(dice.fork("units"), vocabulary, many, features & OF_LABELS)
    label = dice.pick(units.of_kind("label"))
    things = list(zip(units.cells(units.columns[0]), units.cells(label), strict=True))
    main, *others = dice.shuffled(LEVELS)
    numbers = dice.shuffled([dice.between(10, 13), *dice.sample(range(1, 10), many - 1)])
    told = [(main, thing) for thing, number in zip(things, numbers, strict=True) for _ in range(number)]
    told += [(dice.pick(others), dice.pick(things)) for _ in range(2 * many)]
    second, day = dice.between(0, 20000), f"2025-{dice.between(1, 9):02d}-{dice.between(1, 28):02d}"
    events: list[Event] = []
    for level, (key, ward) in dice.shuffled(told):
        second += dice.between(3, 400)
        cut = "cut_lines" in features and dice.chance(0.12)
        shown = dice.pick(SPELLINGS)(level) if "level_case" in features and dice.chance(0.3) else level
        events.append(Event(f"{day}T{_clock(second)}", shown, _message(dice, vocabulary), key, None if cut else ward))
    return Log(units.columns[0], label, tuple(events), "\r\n" if "crlf" in features else "\n")


def _clock(second: int) -> str:
    return f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"


def _message(dice: Dice, vocabulary: Vocabulary) -> str:
    """A few words, the name of a level among them now and then."""
    word = dice.pick(vocabulary.words)
    return dice.pick((f"{word} {dice.pick(LEVELS)} cleared", f"{word} checked", f"waiting for {word}"))
