"""Merge a second JSON object into the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.document import Document

SOLUTION = """\
mkdir -p "$(dirname {target})"
jq -s '
def merge($a; $b): reduce ($b | to_entries[]) as $e ($a; $a[$e.key] as $old |
    {nulls}if ($a | has($e.key) | not) then .[$e.key] = $e.value
    elif {deep} then .[$e.key] = merge($old; $e.value)
    elif {lists} then .[$e.key] = $old + $e.value
    else {otherwise} end);
merge(.[0]; .[1])
' {source} {side} > {target}
"""
BOTH = '([$old, $e.value] | map(type)) == ["{kind}", "{kind}"]'
NEW = (
    "backup",
    "reserve",
    "annex",
    "remote",
    "spare",
    "drafts",
    "replica",
    "legacy",
    "interim",
    "preview",
    "extra",
    "fallback",
    "transit",
    "hotline",
)
WORDS = ("revised", "manual", "shared", "late", "open", "quiet")


class MergeJson(Operation):
    """document → document."""

    id = "merge_json"
    title = "merged documents"
    takes = Document
    gives = Document
    skills = ("domain/json", "artifact/json", "operation/json-merge")
    stems = ("merged", "overlaid", "united")
    slips = ("reversed", "dropped")
    said = (
        "Merge the JSON objects of {source} and {side} into {target}, which is one JSON object with the keys of both; "
        "where both have a key, the value of the second file replaces that of the first as a whole.",
        "Write {target}, a JSON object that takes its keys and values from {source} and from {side}; for a key that "
        "both files have, the whole value of the second file counts.",
        "{target} must be the JSON object of {source} overlaid with the one of {side}: the keys of either file are in "
        "it, and a key of both has the value, all of it, that it has in the second file.",
    )
    knobs = (
        Knob(
            "deep",
            "constraint/nested-keys",
            (
                "Objects that both files have under a key are not replaced but merged by the same rules, at any depth.",
                "This applies key by key within nested objects at any depth as well, not to these as a whole.",
                "Where both values are objects, merge them in turn by the same rules, and so on all the way down.",
            ),
            slips=("inner_reversed",),
            ambient=False,
        ),
        Knob(
            "join_lists",
            "constraint/list-values",
            (
                "Lists are not replaced but joined, the elements of the first file before those of the second.",
                "Where both values are lists, append the elements of the second list to the first one.",
                "Two lists under the same key become one list, with the elements of the second file at the end.",
            ),
            slips=("front",),
            ambient=False,
        ),
        Knob(
            "null_deletes",
            "constraint/null-values",
            (
                "A null in the second file deletes the key.",
                "Where the second file has null, the key must be gone from the result.",
                "Null in the second file is no value: it means that the key has to be removed.",
            ),
            slips=("emptied",),
            excludes=("precedence",),
        ),
        Knob(
            "precedence",
            "constraint/precedence",
            (
                "Contrary to the rule above, the value of the first file stays where both have one.",
                "The precedence is the other way round here: for keys of both files the first file decides.",
                "Do not overwrite anything, though: what the first file has stays, and the second one only adds to it.",
            ),
            ambient=False,
            excludes=("null_deletes",),
        ),
    )

    def draw(self, dice: Dice, value: Document, knobs: Knobs) -> Params | None:
        """A second object that touches values of each kind that the first one has."""
        kinds = {kind: [key for key, v in value.data.items() if isinstance(v, kind)] for kind in (dict, list)}
        plain = [key for key in value.data if key not in kinds[dict] + kinds[list]]
        if not value.data or ("deep" in knobs and not kinds[dict]) or ("join_lists" in knobs and not kinds[list]):
            return None
        changed = dice.sample(plain, (len(plain) + 1) // 2)
        other = _overlay(dice, {key: value.data[key] for key in [*changed, *dice.sample(kinds[dict], 2), *kinds[list]]})
        if "null_deletes" in knobs:
            left = [key for key in value.data if key not in other]
            other |= {key: None for key in dice.sample(left, 2)}
        names = [name for name in NEW if name not in value.data]
        other |= {name: dice.between(2, 900) for name in dice.sample(names, 2)}
        return {"other": {key: other[key] for key in dice.shuffled(sorted(other))}}

    def side(self, params: Params) -> Document:
        """The second object."""
        return Document(params["other"])

    def apply(self, value: Document, params: Params, knobs: Knobs, slip: str = "") -> Document:
        """Key by key."""
        merged = _merge(value.data, params["other"], knobs, slip)
        if slip == "dropped":
            merged = {key: v for key, v in merged.items() if key in value.data}
        return Document(merged)

    def slots(self, params: Params) -> Mapping[str, str]:
        """None."""
        return {}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """A recursive function of jq."""
        return SOLUTION.format(
            source=paths.source,
            side=paths.side,
            target=paths.target,
            nulls="if $e.value == null then del(.[$e.key]) el" if "null_deletes" in knobs else "",
            deep=BOTH.format(kind="object") if "deep" in knobs else "false",
            lists=BOTH.format(kind="array") if "join_lists" in knobs else "false",
            otherwise="." if "precedence" in knobs else ".[$e.key] = $e.value",
        )


def _overlay(dice: Dice, data: Mapping[str, Any]) -> dict[str, Any]:
    """Other values for the same keys; objects get a part of their keys and a new one."""
    other: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            plain = [k for k, v in value.items() if not isinstance(v, dict | list)]
            kept = [*dice.sample(plain, 1), *(k for k in value if k not in plain)]
            other[key] = {**_overlay(dice, {k: value[k] for k in kept}), dice.pick(NEW): dice.between(2, 900)}
        elif isinstance(value, list):
            other[key] = dice.sample([word for word in WORDS if word not in value], 2)
        elif isinstance(value, int):
            other[key] = value + dice.between(1, 90)
        else:
            other[key] = dice.pick([word for word in WORDS if word != value])
    return other


def _merge(a: Mapping[str, Any], b: Mapping[str, Any], knobs: Knobs, slip: str, depth: int = 0) -> dict[str, Any]:
    merged = dict(a)
    keeps = ("precedence" in knobs) != (slip == "reversed" or (slip == "deep:inner_reversed" and depth > 0))
    for key, new in b.items():
        old = a.get(key)
        if new is None and "null_deletes" in knobs:
            merged.pop(key)
            if slip == "null_deletes:emptied":
                merged[key] = ""
        elif isinstance(old, dict) and isinstance(new, dict) and "deep" in knobs:
            merged[key] = _merge(old, new, knobs, slip, depth + 1)
        elif isinstance(old, list) and isinstance(new, list) and "join_lists" in knobs:
            merged[key] = new + old if slip == "join_lists:front" else old + new
        elif key not in a or not keeps:
            merged[key] = new
    return merged


OPERATION = MergeJson()
