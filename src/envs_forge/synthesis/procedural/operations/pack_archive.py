"""Pack a tree of files into a compressed tar archive."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.archive import Archive
from envs_forge.synthesis.procedural.values.tree import Tree

SOLUTION = """\
mkdir -p "$(dirname {target})"
out=$(realpath -m {target})
cd {source}
find . {only}-not -type d -printf '%P\\0' | LC_ALL=C sort -z > /tmp/members.$$
tar -czf "$out" {options}--null --no-recursion --verbatim-files-from -T /tmp/members.$$
rm /tmp/members.$$
"""
FOLDERS = ("bundle", "content", "delivery", "payload")


class PackArchive(Operation):
    """tree → archive."""

    id = "pack_archive"
    title = "packed archive"
    takes = Tree
    gives = Archive
    skills = ("domain/archives", "artifact/directory-tree", "artifact/tar-archive", "operation/create-archive")
    stems = ("packed", "shipment", "archive")
    slips = ("with_folder", "top_only", "flat")
    said = (
        "Pack all files and symbolic links of the directory {source}, at any depth, into {target}, a tar archive "
        "compressed with gzip, under their paths relative to that directory.",
        "{target} must be a gzip-compressed tar archive of everything below the folder {source}, subdirectories "
        "included; members are named by their path within the folder, and links stay links.",
        "Make a gzipped tar archive of the content of {source} as {target}: every file and symbolic link, however "
        "deep it lies, with its path counted from that directory.",
    )
    knobs = (
        Knob(
            "top_folder",
            "constraint/top-level-folder",
            (
                "Inside the archive everything lies below one folder named `{folder}`.",
                "Put `{folder}/` before the path of each member.",
                "All members are to be in a top-level folder `{folder}` of the archive.",
            ),
            slips=("own_name",),
            ambient=False,
        ),
        Knob(
            "skip_hidden",
            "constraint/hidden-files",
            (
                "Leave out hidden files.",
                "Files whose name begins with a dot are not packed.",
                "Dot files do not belong in the archive.",
            ),
            features=("hidden",),
            ambient=False,
        ),
        Knob(
            "links",
            "constraint/symlinks",
            (
                "Yet in place of a symbolic link, pack a copy of the file that it points to.",
                "But replace each symbolic link in the archive by the content of what it points to.",
                "Links are not wanted in the archive after all: in their place put the files behind them.",
            ),
            features=("links",),
            slips=("left_out",),
            ambient=False,
        ),
        Knob(
            "exclude",
            "constraint/exclusions",
            (
                "Leave out every file whose name ends in `.{ending}`.",
                "Exclude `*.{ending}` files.",
                "Nothing that ends in `.{ending}` may get into the archive.",
            ),
            slips=("only",),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Tree, knobs: Knobs) -> Params | None:
        """A folder and an ending that occurs. Links must lead somewhere."""
        if any(file.target and file.target not in value.entries for file in value.entries.values()):
            return None
        endings = sorted({path.rsplit(".", 1)[1] for path in value.entries})
        return {"folder": dice.pick(FOLDERS), "ending": dice.pick(endings)}

    def apply(self, value: Tree, params: Params, knobs: Knobs, slip: str = "") -> Archive:
        """The members under their names."""
        entries: dict[str, BundleFile] = {}
        for path, file in value.entries.items():
            if self._packed(path, file, params, knobs, slip):
                behind = value.entries[file.target] if file.target and "links" in knobs else file
                entries[self._member(path, params, knobs, slip)] = BundleFile(data=behind.data, target=behind.target)
        return Archive(Tree(entries))

    def _packed(self, path: str, file: BundleFile, params: Params, knobs: Knobs, slip: str) -> bool:
        name = path.rpartition("/")[2]
        if (slip == "top_only" and "/" in path) or (slip == "links:left_out" and file.target):
            return False
        if "skip_hidden" in knobs and name.startswith("."):
            return False
        return name.endswith(f".{params['ending']}") == (slip == "exclude:only") if "exclude" in knobs else True

    def _member(self, path: str, params: Params, knobs: Knobs, slip: str) -> str:
        name = path.rpartition("/")[2] if slip == "flat" else path
        if slip == "top_folder:own_name":
            return f"source/{name}"
        name = f"source/{name}" if slip == "with_folder" else name
        return f"{params['folder']}/{name}" if "top_folder" in knobs else name

    def slots(self, params: Params) -> Mapping[str, str]:
        """Folder and ending."""
        return {name: str(text) for name, text in params.items()}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Collect the names with find, pack them with tar."""
        only = "-not -name '.*' " if "skip_hidden" in knobs else ""
        only += f"-not -name '*.{params['ending']}' " if "exclude" in knobs else ""
        options = "-h " if "links" in knobs else ""
        options += f"--transform 'flags=rh;s,^,{params['folder']}/,' " if "top_folder" in knobs else ""
        return SOLUTION.format(source=paths.source, target=paths.target, only=only, options=options)


OPERATION = PackArchive()
