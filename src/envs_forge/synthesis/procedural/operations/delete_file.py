"""Delete one file of a directory."""

from __future__ import annotations

from shlex import quote

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.operation import Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainTree


class DeleteFile(PlainTree):
    """tree → tree."""

    id = "delete_file"
    title = "a file deleted"
    skills = ("domain/files", "artifact/directory-tree", "operation/place-files")
    stems = ("directory",)
    slips = ("emptied", "all_of_them")
    said = (
        "In the directory {source}, delete the file `{file}`.",
        "Delete `{file}` from the directory {source}; all other files stay.",
        "Remove the file `{file}` from the directory {source} and delete nothing else.",
    )

    def changed(self, entries: dict[str, BundleFile], params: Params, slip: str) -> dict[str, BundleFile]:
        """The other entries."""
        if slip == "all_of_them":
            return {path: file for path, file in entries.items() if "/" in path}
        del entries[params["file"]]
        return entries | ({params["file"]: BundleFile()} if slip == "emptied" else {})

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Rm."""
        return f"rm {paths.source}/{quote(params['file'])}"


OPERATION = DeleteFile()
