"""Copy a tree of files and set the modes in the copy by a rule."""

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
{runnable}find . -type f -exec chmod {rest} {{}} +
find . -type f {visible}-name '*.{ending}' -exec chmod {mode} {{}} +
{late}"""


class SetPermissions(Operation):
    """tree → tree, with modes."""

    id = "set_permissions"
    title = "modes of the files"
    takes = Tree
    gives = Tree
    skills = ("domain/permissions", "artifact/directory-tree", "operation/set-permissions")
    stems = ("protected", "locked", "shared")
    suffix = ""
    slips = ("top_only", "others_kept")
    said = (
        "Copy the directory {source} to {target}, and in the copy give every file whose name ends in `.{ending}`, at "
        "any depth, the mode `{mode}` and all other files the mode `{rest}`.",
        "Make {target} a copy of the directory {source} in which the permissions of all `*.{ending}` files, in "
        "subdirectories too, have the mode `{mode}` and those of the remaining files the mode `{rest}`.",
        "In a copy of the folder {source} named {target}, set the permissions: the mode `{mode}` for each "
        "`*.{ending}` file, however deep it lies, and the mode `{rest}` for any other file.",
    )
    knobs = (
        Knob(
            "skip_hidden",
            "constraint/hidden-files",
            (
                "A hidden file counts among the other files, whatever it ends in.",
                "Dot files never count as `.{ending}` files and get the mode of the rest.",
                "Files whose name begins with a dot get the mode of the other files, whatever their ending.",
            ),
            features=("hidden",),
            ambient=False,
        ),
        Knob(
            "executable",
            "constraint/executable-bit",
            (
                "Files that are executable in the original get the mode `{run}` instead.",
                "What has a run bit in the original directory gets `{run}`, whatever its name.",
                "Give files that could be executed before the mode `{run}`, whatever they are called.",
            ),
            features=("executable",),
            slips=("added",),
            ambient=False,
        ),
        Knob(
            "empty",
            "constraint/empty-files",
            (
                "An empty file gets `{empty}`, whatever else holds for it.",
                "Above all, files of zero bytes get the mode `{empty}`.",
                "The mode of every file without content is `{empty}` in any case.",
            ),
            features=("empty",),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Tree, knobs: Knobs) -> Params | None:
        """An ending that occurs, and a mode for each kind of file."""
        endings = sorted({path.rsplit(".", 1)[1] for path in value.entries})
        modes = dice.shuffled(("600", "640", "660"))
        run, empty = dice.pick(("700", "750")), dice.pick(("444", "400"))
        return {"ending": dice.pick(endings), "mode": modes[0], "rest": modes[1], "run": run, "empty": empty}

    def apply(self, value: Tree, params: Params, knobs: Knobs, slip: str = "") -> Tree:
        """The same files with other modes."""
        entries = dict(value.entries)
        for path, file in value.entries.items():
            if file.target is None:
                entries[path] = BundleFile(data=file.data, mode=self._mode(path, file, params, knobs, slip))
        return Tree(entries, modes=True)

    def _mode(self, path: str, file: BundleFile, params: Params, knobs: Knobs, slip: str) -> int:
        folder, _, name = path.rpartition("/")
        hit = name.endswith(f".{params['ending']}") and not ("skip_hidden" in knobs and name.startswith("."))
        hit = hit and not (slip == "top_only" and folder)
        mode = int(params["mode" if hit else "rest"], 8)
        if not hit and slip == "others_kept":
            mode = file.mode
        if "executable" in knobs and file.mode & 0o100:
            mode = mode | 0o111 if slip == "executable:added" else int(params["run"], 8)
        return int(params["empty"], 8) if "empty" in knobs and not file.data else mode

    def slots(self, params: Params) -> Mapping[str, str]:
        """Ending and modes."""
        return {name: str(text) for name, text in params.items()}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """cp, find, chmod."""
        late = runnable = ""
        if "executable" in knobs:
            runnable = 'run=$(mktemp)\nfind . -type f -perm -u+x -print0 > "$run"\n'
            late += f'xargs -0 -r chmod {params["run"]} -- < "$run"\nrm "$run"\n'
        if "empty" in knobs:
            late += f"find . -type f -empty -exec chmod {params['empty']} {{}} +\n"
        return SOLUTION.format(
            source=paths.source,
            target=paths.target,
            runnable=runnable,
            visible="-not -name '.*' " if "skip_hidden" in knobs else "",
            late=late,
            **{name: params[name] for name in ("rest", "ending", "mode")},
        )


OPERATION = SetPermissions()
