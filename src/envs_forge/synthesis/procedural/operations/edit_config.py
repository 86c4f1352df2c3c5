"""Change settings in a configuration file and leave the rest of it alone."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.sources.config import KEYS, value
from envs_forge.synthesis.procedural.values.config import Config

SOLUTION = """\
mkdir -p "$(dirname {target})"
awk {variables} '
function name_of(line) {{ sub(/ *=.*/, "", line); return line ~ /^[#[]/ ? "" : line }}
function same(a, b) {{ return fold ? tolower(a) == tolower(b) : a == b }}
/^\\[/ {{ if (NR > FNR && FNR > 1 && inside && added) print added }}
/^\\[/ {{ inside = $0 == section; cleared = $0 == old_section }}
NR == FNR {{ if (inside && same(name_of($0), key)) last = FNR; next }}
cleared && same(name_of($0), old_key) {{ next }}
inside && same(name_of($0), key) && (!last_only || FNR == last) {{ print name_of($0) " = " value; next }}
{{ print }}
END {{ if (inside && added) print added }}
' {source} {source} > {target}
"""


class EditConfig(Operation):
    """config → config."""

    id = "edit_config"
    title = "edited settings"
    takes = Config
    gives = Config
    skills = ("domain/configuration", "artifact/ini", "operation/config-edit")
    stems = ("edited", "settings", "adjusted")
    slips = ("every_section", "appended")
    said = (
        "Set the key `{key}` in the section `[{section}]` of {source} to `{value}` and write the whole file to "
        "{target}, with every other line as it was and an equals sign between single spaces in the changed one.",
        "{target} must be a copy of the configuration file {source} in which the section `[{section}]` has the value "
        "`{value}` for the key `{key}`, with one space on each side of the equals sign; all other lines stay as they "
        "are.",
        "Copy the settings in {source} to {target}, but let the option `{key}` of the section `[{section}]` have the "
        "value `{value}` there, with a space before and after the equals sign, and change no other line.",
    )
    knobs = (
        Knob(
            "add",
            "constraint/position",
            (
                "Also add `{new_key}` with the value `{new_value}` as the last line of the section `[{section}]`.",
                "A new last line gives `{new_key}` the value `{new_value}` in `[{section}]`.",
                "Append `{new_key}` with the value `{new_value}` at the end of `[{section}]` as well.",
            ),
            slips=("file_end",),
            ambient=False,
        ),
        Knob(
            "remove",
            "constraint/scope",
            (
                "Delete every line for `{old_key}` from the section `[{old_section}]`.",
                "Remove `{old_key}` from `[{old_section}]`.",
                "The setting `{old_key}` in `[{old_section}]` has to go.",
            ),
            slips=("everywhere",),
            ambient=False,
        ),
        Knob(
            "duplicates",
            "constraint/duplicate-keys",
            (
                "Where `{key}` occurs more than once in `[{section}]`, change only the last of its lines.",
                "Of several lines for `{key}` in `[{section}]` only the last one gets the new value.",
                "If `[{section}]` has `{key}` twice, the earlier line stays as it is and the last one changes.",
            ),
            features=("twice",),
            slips=("first",),
        ),
        Knob(
            "ignore_case",
            "constraint/case-insensitive",
            (
                "The key may be written in any capitalisation; keep the spelling that the line has.",
                "Upper and lower case do not matter in keys, and the line keeps its key as it is spelled.",
                "Keys are case-insensitive; leave the key itself as it is written.",
            ),
            features=("case",),
            slips=("lowered",),
        ),
    )

    def draw(self, dice: Dice, value_: Config, knobs: Knobs) -> Params | None:
        """A setting to change, one to add and one to remove."""
        placed = [(section, key) for section, key in value_.placed() if key]
        section, key = dice.pick(placed)
        old_section, old_key = dice.pick([(s, k) for s, k in placed if k.lower() != key.lower()] or [("", "")])
        new_keys = [
            k for k in ("owner", "region", "profile", "backend", *KEYS) if all(k != p.lower() for _, p in placed)
        ]
        if not old_key or not new_keys:
            return None
        shown = key.lower() if "ignore_case" in knobs else key
        return {
            "section": section,
            "key": shown,
            "value": str(dice.between(901, 999)),
            "old_section": old_section,
            "old_key": old_key,
            "new_key": new_keys[0],
            "new_value": value(dice),
        }

    def apply(self, value_: Config, params: Params, knobs: Knobs, slip: str = "") -> Config:
        """Line by line."""
        hits = self._hits(value_, params, knobs, slip)
        lines: list[str] = []
        for i, (line, (section, key)) in enumerate(zip(value_.lines, value_.placed(), strict=True)):
            there = section == params["old_section"] or slip == "remove:everywhere"
            if "remove" in knobs and self._fold(key, knobs) == self._fold(params["old_key"], knobs) and there:
                continue
            shown = key.lower() if slip == "ignore_case:lowered" else key
            lines.append(f"{shown} = {params['value']}" if i in hits else line)
        if slip == "appended":
            lines = self._added(lines, params["section"], f"{params['key']} = {params['value']}")
        if "add" in knobs:
            where = "" if slip == "add:file_end" else params["section"]
            lines = self._added(lines, where, f"{params['new_key']} = {params['new_value']}")
        return Config(tuple(lines))

    def _hits(self, value_: Config, params: Params, knobs: Knobs, slip: str) -> set[int]:
        """Places of the lines that get the new value."""
        if slip == "appended":
            return set()
        found = [
            i
            for i, (section, key) in enumerate(value_.placed())
            if self._fold(key, knobs) == params["key"] and (section == params["section"] or slip == "every_section")
        ]
        if "duplicates" in knobs and slip != "every_section":
            found = found[:1] if slip == "duplicates:first" else found[-1:]
        return set(found)

    def _fold(self, key: str, knobs: Knobs) -> str:
        return key.lower() if "ignore_case" in knobs else key

    def _added(self, lines: list[str], section: str, line: str) -> list[str]:
        """With one more line at the end of a section, or of the file."""
        sections = [name for name, _ in Config(tuple(lines)).placed()]
        end = max((i for i, name in enumerate(sections, 1) if name == section), default=len(lines))
        return [*lines[:end], line, *lines[end:]]

    def slots(self, params: Params) -> Mapping[str, str]:
        """All that was drawn."""
        return {name: str(text) for name, text in params.items()}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """awk, reading the file twice."""
        variables = {"section": f"[{params['section']}]", "key": params["key"], "value": params["value"]}
        variables |= {"fold": "1" if "ignore_case" in knobs else "", "last_only": "1" if "duplicates" in knobs else ""}
        if "remove" in knobs:
            variables |= {"old_section": f"[{params['old_section']}]", "old_key": params["old_key"]}
        if "add" in knobs:
            variables["added"] = f"{params['new_key']} = {params['new_value']}"
        shown = " ".join(f"-v {name}={shlex.quote(text)}" for name, text in variables.items() if text)
        return SOLUTION.format(variables=shown, source=paths.source, target=paths.target)


OPERATION = EditConfig()
