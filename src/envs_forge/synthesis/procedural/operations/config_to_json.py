"""Write the settings of a configuration file as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.config import Config
from envs_forge.synthesis.procedural.values.document import Document

SOLUTION = """\
mkdir -p "$(dirname {target})"
python3 - {source} {target} <<'EOF'
import configparser, json, sys
parser = configparser.ConfigParser(interpolation=None, strict=False)
parser.optionxform = {key}
parser.read(sys.argv[1], encoding="utf-8")
data = {{name: {{key: {value} for key, value in parser[name].items()}} for name in parser.sections()}}
{only}with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(data, file, indent=2)
EOF
"""


class ConfigToJson(Operation):
    """config → document."""

    id = "config_to_json"
    title = "settings as JSON"
    takes = Config
    gives = Document
    skills = ("domain/configuration", "artifact/ini", "artifact/json", "operation/convert-format")
    stems = ("settings", "options", "exported")
    slips = ("flat", "comments")
    said = (
        "Write the settings of the configuration file {source} to {target} as a JSON object of objects, section to "
        "key to value, with every key as it is spelled, {values} and without the comments{twice}.",
        "{target} must be a JSON object with one entry a section of the configuration file {source}, each an object "
        "of the keys of the section, spelled as they are, and their values; {values}, and comments do not "
        "appear{twice}.",
        "Turn the configuration in {source} into JSON and save it as {target}: sections become objects in one outer "
        "object, and the settings in them their entries, {values}, with keys as they are written and comments left "
        "out{twice}.",
    )
    knobs = (
        Knob(
            "numbers",
            "constraint/number-types",
            (
                "Values that consist of digits become JSON numbers instead.",
                "Whole numbers, however, are to be numbers in the JSON, without quotes.",
                "Only a value of digits is not to be a string but a number.",
            ),
            slips=("all_zero",),
            ambient=False,
        ),
        Knob(
            "ignore_case",
            "constraint/case-insensitive",
            (
                "Write every key in lower case, however the file spells it.",
                "All keys get lower case in the JSON, however they are spelled.",
                "Turn all keys into lower case, though.",
            ),
            features=("case",),
            slips=("upper",),
            ambient=False,
        ),
        Knob(
            "exclude",
            "constraint/exclusions",
            (
                "Leave the section `[{section}]` out.",
                "The section `[{section}]` is not wanted.",
                "Do without the section `[{section}]`.",
            ),
            slips=("only",),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Config, knobs: Knobs) -> Params | None:
        """A section."""
        names = [(section, key.lower() if "ignore_case" in knobs else key) for section, key in value.placed() if key]
        sections = sorted({section for section, _ in names})
        return {"section": dice.pick(sections), "twice": len(set(names)) < len(names)}

    def apply(self, value: Config, params: Params, knobs: Knobs, slip: str = "") -> Document:
        """Section → key → value."""
        data: dict[str, dict[str, Any]] = {}
        for line, (section, key) in zip(value.lines, value.placed(), strict=True):
            if line.startswith("["):
                data.setdefault(section, {})
            elif key:
                data[section][self._key(key, knobs, slip)] = self._value(line.partition(" = ")[2], knobs, slip)
            elif slip == "comments":
                data[section][line] = ""
        if "exclude" in knobs:
            data = {
                name: keys for name, keys in data.items() if (name == params["section"]) == (slip == "exclude:only")
            }
        if slip == "flat":
            return Document({key: text for keys in data.values() for key, text in keys.items()})
        return Document(data)

    def _key(self, key: str, knobs: Knobs, slip: str) -> str:
        if "ignore_case" not in knobs:
            return key
        return key.upper() if slip == "ignore_case:upper" else key.lower()

    def _value(self, text: str, knobs: Knobs, slip: str) -> str | int:
        if "numbers" not in knobs:
            return text
        return int(text) if text.isdigit() else 0 if slip == "numbers:all_zero" else text

    def slots(self, params: Params) -> Mapping[str, str]:
        """The section, and what holds for keys that occur twice where there are any."""
        twice = "; of a key that occurs twice in a section the last value counts" if params["twice"] else ""
        return {"section": params["section"], "twice": twice, "values": "all values as strings"}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Python's configparser."""
        only = f"data.pop({params['section']!r})\n" if "exclude" in knobs else ""
        return SOLUTION.format(
            source=paths.source,
            target=paths.target,
            key="str.lower" if "ignore_case" in knobs else "str",
            value="int(value) if value.isdigit() else value" if "numbers" in knobs else "value",
            only=only,
        )


OPERATION = ConfigToJson()
