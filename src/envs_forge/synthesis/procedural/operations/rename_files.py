"""Copy a tree of files with another ending to their names."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.tree import Tree

SOLUTION = """\
mkdir -p {target}
cp -a {source}/. {target}/
cd {target}
find . {hidden}-type f -name '*.{old}' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.{old}').{new}
{adjust}    mv "$path" "$folder/$name"
done
"""


class RenameFiles(Operation):
    """tree → tree."""

    id = "rename_files"
    title = "files renamed"
    takes = Tree
    gives = Tree
    skills = ("domain/files", "artifact/directory-tree", "operation/rename-files")
    stems = ("renamed", "sorted-out", "clean")
    suffix = ""
    slips = ("appended", "top_only")
    said = (
        "Copy the directory {source} to {target}, and in the copy change the ending of every `.{old}` file, in "
        "subdirectories too, to `.{new}`.",
        "Make {target} a copy of the directory {source} in which all files ending in `.{old}`, at any depth, end in "
        "`.{new}` instead.",
        "In a copy of the folder {source} named {target}, rename each `*.{old}` file, however deep it lies, so that "
        "it ends in `.{new}`; all other names stay.",
    )
    knobs = (
        Knob(
            "lower",
            "constraint/lower-case-names",
            (
                "The renamed files also get lower-case names.",
                "Turn the names of the files that you rename into lower case.",
                "Write the new names in lower case.",
            ),
            features=("upper",),
            slips=("all_files",),
        ),
        Knob(
            "spaces",
            "constraint/spaces-in-names",
            (
                "Replace every space in a renamed file's name by an underscore.",
                "The new names must not contain spaces: put `_` in their place.",
                "Blanks in the names of renamed files become underscores.",
            ),
            features=("spaces",),
            slips=("removed",),
        ),
        Knob(
            "skip_hidden",
            "constraint/hidden-files",
            (
                "Hidden files keep their names.",
                "Do not rename files whose name begins with a dot.",
                "Leave dot files as they are.",
            ),
            features=("hidden",),
        ),
    )

    def draw(self, dice: Dice, value: Tree, knobs: Knobs) -> Params | None:
        """An ending that occurs and one that does not."""
        endings = sorted({path.rsplit(".", 1)[1] for path in value.entries})
        new = [e for e in ("bak", "old", "orig", "data", "text") if e not in endings]
        return {"old": dice.pick(endings), "new": dice.pick(new)}

    def apply(self, value: Tree, params: Params, knobs: Knobs, slip: str = "") -> Tree:
        """The tree under new names."""
        entries: dict[str, BundleFile] = {}
        for path, file in value.entries.items():
            entries[self._renamed(path, file, params, knobs, slip)] = file
        return Tree(entries)

    def _renamed(self, path: str, file: BundleFile, params: Params, knobs: Knobs, slip: str) -> str:
        folder, slash, name = path.rpartition("/")
        hidden = "skip_hidden" in knobs and name.startswith(".")
        hit = name.endswith(f".{params['old']}") and file.target is None and not hidden
        if hit and not (slip == "top_only" and folder):
            stem = name if slip == "appended" else name.removesuffix(f".{params['old']}")
            name = f"{stem}.{params['new']}"
            if "spaces" in knobs:
                name = name.replace(" ", "" if slip == "spaces:removed" else "_")
            name = name.lower() if "lower" in knobs else name
        name = name.lower() if slip == "lower:all_files" else name
        return f"{folder}{slash}{name}"

    def slots(self, params: Params) -> Mapping[str, str]:
        """Both endings."""
        return {"old": params["old"], "new": params["new"]}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """cp, find, mv."""
        adjust = ""
        if "spaces" in knobs:
            adjust += "    name=$(printf '%s' \"$name\" | tr ' ' '_')\n"
        if "lower" in knobs:
            adjust += "    name=$(printf '%s' \"$name\" | tr '[:upper:]' '[:lower:]')\n"
        hidden = "-not -name '.*' " if "skip_hidden" in knobs else ""
        return SOLUTION.format(
            source=paths.source, target=paths.target, old=params["old"], new=params["new"], adjust=adjust, hidden=hidden
        )


OPERATION = RenameFiles()
