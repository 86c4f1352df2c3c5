"""Unpack a compressed tar archive."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.archive import Archive
from envs_forge.synthesis.procedural.values.tree import Tree

SOLUTION = """\
mkdir -p {target}
tar -xzf {source} -C {target}{options}
"""


class UnpackArchive(Operation):
    """archive → tree."""

    id = "unpack_archive"
    title = "unpacked files"
    takes = Archive
    gives = Tree
    skills = ("domain/archives", "artifact/directory-tree", "artifact/tar-archive", "operation/extract-archive")
    stems = ("unpacked", "content", "extracted")
    suffix = ""
    slips = ("nested", "flat")
    said = (
        "Unpack the archive {source} into {target}, a new directory, with each member under the path that it has in "
        "the archive.",
        "Extract everything from the archive {source} to {target}; the paths below that directory are those within "
        "the archive.",
        "{target} must become a directory with the unpacked content of the archive {source}, each member under its "
        "path in the archive.",
    )
    knobs = (
        Knob(
            "top_folder",
            "constraint/top-level-folder",
            (
                "Leave away the one folder that encloses all members.",
                "Strip the first folder from every path, as all members share it.",
                "The enclosing folder that every path in the archive begins with must not appear.",
            ),
            features=("top_folder",),
            slips=("two_levels",),
            ambient=False,
        ),
        Knob(
            "skip_hidden",
            "constraint/hidden-files",
            (
                "Do not unpack hidden files.",
                "Files whose name begins with a dot stay in the archive.",
                "Leave dot files out.",
            ),
            features=("hidden",),
            ambient=False,
        ),
        Knob(
            "exclude",
            "constraint/exclusions",
            (
                "Skip every file whose name ends in `.{ending}`.",
                "Exclude `*.{ending}` files.",
                "Nothing that ends in `.{ending}` may be unpacked.",
            ),
            slips=("only",),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Archive, knobs: Knobs) -> Params | None:
        """An ending that occurs."""
        paths = value.tree.entries
        if "top_folder" in knobs and len({path.split("/")[0] for path in paths if "/" in path} | _at_top(paths)) != 1:
            return None
        return {"ending": dice.pick(sorted({path.rsplit(".", 1)[1] for path in paths}))}

    def apply(self, value: Archive, params: Params, knobs: Knobs, slip: str = "") -> Tree:
        """The members that are wanted, below the target."""
        entries: dict[str, BundleFile] = {}
        for path, file in value.tree.entries.items():
            place = self._place(path, knobs, slip)
            if place and self._wanted(path.rpartition("/")[2], params, knobs, slip):
                entries[place] = file
        return Tree(entries)

    def _wanted(self, name: str, params: Params, knobs: Knobs, slip: str) -> bool:
        if "skip_hidden" in knobs and name.startswith("."):
            return False
        return name.endswith(f".{params['ending']}") == (slip == "exclude:only") if "exclude" in knobs else True

    def _place(self, path: str, knobs: Knobs, slip: str) -> str:
        """Where a member comes to lie; empty when all of its path is stripped."""
        levels = 2 if slip == "top_folder:two_levels" else 1
        path = "/".join(path.split("/")[levels:]) if "top_folder" in knobs else path
        if slip == "flat":
            return path.rpartition("/")[2]
        return f"nested/{path}" if slip == "nested" else path

    def slots(self, params: Params) -> Mapping[str, str]:
        """The ending."""
        return {"ending": params["ending"]}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """One call of tar, and what it cannot do by find."""
        options = " --strip-components=1" if "top_folder" in knobs else ""
        find = f"find {paths.target} -not -type d"
        if "skip_hidden" in knobs:
            options += f"\n{find} -name '.*' -delete"
        if "exclude" in knobs:
            options += f"\n{find} -name '*.{params['ending']}' -delete"
        return SOLUTION.format(source=paths.source, target=paths.target, options=options)


def _at_top(paths: Mapping[str, BundleFile]) -> set[str]:
    return {path for path in paths if "/" not in path}


OPERATION = UnpackArchive()
