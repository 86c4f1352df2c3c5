"""Tables.

Features: `case` (labels in several capitalisations), `compound` (labels that contain another), `padding` (spaces around
labels), `blank_label`, `blank_number` (empty cells), `ties` (equal numbers), `duplicates` (rows whose key occurred
before), `quoted` (names with commas and quotes), `unicode` (names outside ASCII), `semicolon` (another delimiter),
`crlf`, `no-header`, `no-final-newline`.
"""

from __future__ import annotations

from dataclasses import replace

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.scenario import Column, Vocabulary
from envs_forge.synthesis.procedural.values.table import Row, Table

CASES = (str.upper, str.capitalize, str.lower)


def make(dice: Dice, vocabulary: Vocabulary, count: int, features: frozenset[str]) -> Table:
    """Key, two labels, name, two numbers and a date, in this order. Each feature of cells is in one column only."""
    labels = dice.sample(vocabulary.labels, 2)
    numbers = dice.sample(vocabulary.numbers, 2)
    columns = [vocabulary.key, *labels, vocabulary.name, *numbers, vocabulary.date]
    kinds = ["key", "label", "label", "name", "number", "number", "date"]
    own = _spread(dice, features)
    made = [
        _cells(dice, column, kind, count, own[i]) for i, (column, kind) in enumerate(zip(columns, kinds, strict=True))
    ]
    rows: list[Row] = list(zip(*made, strict=True))
    if "duplicates" in features:
        rows = _duplicate(dice, rows)
    return _dialect(Table(tuple(c.name for c in columns), tuple(kinds), tuple(rows)), features)


def _spread(dice: Dice, features: frozenset[str]) -> list[frozenset[str]]:
    """Which features each of the seven columns has."""
    own: list[set[str]] = [set() for _ in range(7)]
    for feature in ("case", "padding", "blank_label"):
        own[dice.pick((1, 2))].add(feature)
    for feature in ("ties", "blank_number"):
        own[dice.pick((4, 5))].add(feature)
    own[1].add("compound")
    own[2].add("compound")
    own[3] |= {"quoted", "unicode"}
    return [frozenset(features & has) for has in own]


def _cells(dice: Dice, column: Column, kind: str, count: int, features: frozenset[str]) -> list[str]:
    if kind == "key":
        return [column.pattern.format(n) for n in dice.sample(range(1, 10 * count), count)]
    if kind == "label":
        return [_label(dice, column, features) for _ in range(count)]
    if kind == "name":
        return [_name(dice, dice.pick(column.values), features) for _ in range(count)]
    if kind == "number":
        return _numbers(dice, column, count, features)
    return [f"2025-{dice.between(1, 9):02d}-{dice.between(1, 28):02d}" for _ in range(count)]


def _label(dice: Dice, column: Column, features: frozenset[str]) -> str:
    if "blank_label" in features and dice.chance(0.2):
        return ""
    text = dice.pick(column.values[:3])
    if "compound" in features and dice.chance(0.3):
        text = dice.pick(("{}-old", "non-{}")).format(text)
    if "case" in features and dice.chance(0.5):
        text = dice.pick(CASES)(text)
    if "padding" in features and dice.chance(0.35):
        text = dice.pick((" {}", "{} ", " {} ")).format(text)
    return text


def _name(dice: Dice, text: str, features: frozenset[str]) -> str:
    if "unicode" in features and dice.chance(0.5):
        text = f"{text} – {dice.pick(('größer', 'déjà vu', 'naïve', 'Łódź'))}"
    if "quoted" in features and dice.chance(0.5):
        text = dice.pick(("{}, again", 'said "{}"', '{}, "urgent"')).format(text)
    return text


def _numbers(dice: Dice, column: Column, count: int, features: frozenset[str]) -> list[str]:
    """Numbers of different lengths; equal ones only where ties are wanted."""
    picked: list[int] = []
    while len(picked) < count:
        top = dice.pick((column.high, max(9, column.high // 10), max(9, column.high // 60)))
        number = dice.between(column.low, top)
        if number not in picked:
            picked.append(number)
    if "ties" in features:
        picked = [dice.pick(picked[:i]) if i and dice.chance(0.35) else n for i, n in enumerate(picked)]
    blank = "blank_number" in features
    return ["" if blank and dice.chance(0.15) else str(number) for number in picked]


def _duplicate(dice: Dice, rows: list[Row]) -> list[Row]:
    """Let some rows come again with the same key and another number and date."""
    extra = [(row[0], *other[1:]) for row, other in zip(dice.sample(rows, 4), dice.sample(rows, 4), strict=True)]
    return dice.shuffled([*rows[: max(4, len(rows) - 4)], *extra])


def _dialect(table: Table, features: frozenset[str]) -> Table:
    return replace(
        table,
        delimiter=";" if "semicolon" in features else ",",
        header="no-header" not in features,
        newline="\r\n" if "crlf" in features else "\n",
        final_newline="no-final-newline" not in features,
    )
