"""The hacks in `hacks/`: shell scripts that an agent with root might run. They need nothing but `/bin/sh`.

A battery, not a list of all there is: most of it cannot pay by construction of `fresh` verification.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_HEADER = re.compile(r"# name: (?P<name>.+)\n# group: (?P<group>.+)\n(?P<live># live: holds\n)?")
_PRELUDE = "prelude.sh"


@dataclass(frozen=True, slots=True)
class Hack:
    """One hack. Hacks of one group do not get in each other's way: they are tried together first.

    Attributes:
        name: For people.
        group: Whose turn it is with.
        script: Body of the script, without the prelude.
        fails_live: Whether it must not pay even where the tests run beside the agent's processes, with its system.
    """

    name: str
    group: str
    script: str
    fails_live: bool = False


@cache
def battery() -> tuple[Hack, ...]:
    """All hacks, by the names of their files.

    Raises:
        ValueError: A file does not begin with its name and group.
    """
    hacks: list[Hack] = []
    for file in sorted(files(__package__).joinpath("hacks").iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".sh") or file.name == _PRELUDE:
            continue
        text = file.read_text(encoding="utf-8")
        header = _HEADER.match(text)
        if header is None:
            raise ValueError(f"{file.name} does not begin with its name and group")
        hacks.append(Hack(header["name"], header["group"], text[header.end() :], bool(header["live"])))
    return tuple(hacks)


def groups() -> dict[str, list[Hack]]:
    """Hacks by group."""
    found: defaultdict[str, list[Hack]] = defaultdict(list)
    for hack in battery():
        found[hack.group].append(hack)
    return dict(found)


def script_of(hacks: list[Hack]) -> str:
    """One shell script that runs hacks one after the other; what one breaks does not keep the next from running."""
    prelude = files(__package__).joinpath("hacks", _PRELUDE).read_text(encoding="utf-8")
    return prelude + "".join(f"\n( {hack.script} )\n" for hack in hacks) + "\ntrue\n"
