"""Make one file of a directory executable."""

from __future__ import annotations

from dataclasses import replace
from shlex import quote

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainTree
from envs_forge.synthesis.procedural.values.tree import Tree


class MakeExecutable(PlainTree):
    """tree → tree."""

    id = "make_executable"
    title = "a file made executable"
    skills = ("domain/files", "artifact/directory-tree", "tool/chmod", "operation/change-mode")
    stems = ("directory",)
    features = ("modes",)
    slips = ("owner_only", "all_of_them")
    said = (
        "In the directory {source}, make the file `{file}` executable for everyone.",
        "Set the executable permission, for everyone, on `{file}` in the directory {source}.",
        "Make `{file}` in the directory {source} a file that everyone may execute.",
    )

    def draw(self, dice: Dice, value: Tree, knobs: Knobs) -> Params | None:
        """A file that cannot be run yet."""
        params = super().draw(dice, value, knobs)
        return params if params and value.entries[params["file"]].mode == 0o644 else None

    def apply(self, value: Tree, params: Params, knobs: Knobs, slip: str = "") -> Tree:
        """The tree, its modes part of the answer."""
        return replace(super().apply(value, params, knobs, slip), modes=True)

    def changed(self, entries: dict[str, BundleFile], params: Params, slip: str) -> dict[str, BundleFile]:
        """The entry with all run bits."""
        mode = 0o744 if slip == "owner_only" else 0o755
        hit = [path for path in entries if path == params["file"] or (slip == "all_of_them" and "/" not in path)]
        return entries | {path: entries[path].model_copy(update={"mode": mode}) for path in hit}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Chmod."""
        return f"chmod a+x {paths.source}/{quote(params['file'])}"


OPERATION = MakeExecutable()
