"""Plain operations: one everyday command each, on lines of text or on a directory that is changed where it lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knobs, Operation, Params
from envs_forge.synthesis.procedural.values.lines import Lines
from envs_forge.synthesis.procedural.values.tree import Tree


class PlainLines(Operation):
    """lines → lines."""

    takes = Lines
    gives: ClassVar[type] = Lines
    plain = True

    def slots(self, params: Params) -> Mapping[str, str]:
        """The parameters as they are."""
        return {name: str(value) for name, value in params.items()}


class PlainTree(Operation):
    """A directory of which one file, at its top, is changed in place."""

    takes = Tree
    gives = Tree
    plain = True
    in_place = True
    suffix = ""

    def draw(self, dice: Dice, value: Tree, knobs: Knobs) -> Params | None:
        """A file at the top, another name for it and one of the folders."""
        top = sorted(path for path, file in value.entries.items() if "/" not in path and file.target is None)
        folders = sorted({path.partition("/")[0] for path in value.entries if "/" in path})
        if not top or not folders:
            return None
        file, folder = dice.pick(top), dice.pick(folders)
        new = f"{dice.pick(('old', 'new', 'main', 'spare', 'first'))}-{dice.between(41, 99)}.{file.rsplit('.', 1)[1]}"
        return {"file": file, "new": new, "folder": folder} if f"{folder}/{file}" not in value.entries else None

    def apply(self, value: Tree, params: Params, knobs: Knobs, slip: str = "") -> Tree:
        """The tree with the one file changed."""
        return Tree(self.changed(dict(value.entries), params, slip), modes=value.modes)

    def changed(self, entries: dict[str, BundleFile], params: Params, slip: str) -> dict[str, BundleFile]:
        """The entries afterwards."""
        raise NotImplementedError

    def slots(self, params: Params) -> Mapping[str, str]:
        """File, new name and folder."""
        return {name: str(value) for name, value in params.items()}
