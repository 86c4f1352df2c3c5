"""Copy a directory."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.tree import Tree


class CopyDirectory(Operation):
    """tree → tree."""

    id = "copy_directory"
    title = "directory copied"
    skills = ("domain/files", "artifact/directory-tree", "operation/place-files")
    stems = ("copy", "backup", "second")
    slips = ("top_only", "inside")
    said = (
        "Copy the directory {source} with everything in it to {target}.",
        "Make {target} a full copy of the directory {source}, subdirectories included.",
        "Make a copy of the whole directory {source}, named {target}.",
    )
    takes = Tree
    gives = Tree
    suffix = ""
    plain = True

    def draw(self, dice: Dice, value: Tree, knobs: Knobs) -> Params | None:
        """Nothing to choose."""
        return {}

    def apply(self, value: Tree, params: Params, knobs: Knobs, slip: str = "") -> Tree:
        """The same tree."""
        kept = {path: file for path, file in value.entries.items() if slip != "top_only" or "/" not in path}
        return Tree({f"data/{path}" if slip == "inside" else path: file for path, file in kept.items()})

    def slots(self, params: Params) -> Mapping[str, str]:
        """None."""
        return {}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Cp."""
        return f"cp -r {paths.source} {paths.target}"


OPERATION = CopyDirectory()
