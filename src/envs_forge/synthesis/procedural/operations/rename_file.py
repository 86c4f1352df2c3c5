"""Give one file of a directory another name."""

from __future__ import annotations

from shlex import quote

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.operation import Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainTree


class RenameFile(PlainTree):
    """tree → tree."""

    id = "rename_file"
    title = "a file renamed"
    skills = ("domain/files", "artifact/directory-tree", "tool/mv", "operation/place-files")
    stems = ("directory",)
    slips = ("copied", "removed")
    said = (
        "In the directory {source}, rename the file `{file}` to `{new}`.",
        "Give the file `{file}` in the directory {source} the new name `{new}`.",
        "Rename `{file}`, which lies in the directory {source}, to `{new}`.",
    )

    def changed(self, entries: dict[str, BundleFile], params: Params, slip: str) -> dict[str, BundleFile]:
        """The entry under its new name."""
        file = entries[params["file"]] if slip == "copied" else entries.pop(params["file"])
        return entries if slip == "removed" else entries | {params["new"]: file}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Mv."""
        return f"cd {paths.source} && mv {quote(params['file'])} {quote(params['new'])}"


OPERATION = RenameFile()
