"""Move one file of a directory into a folder of it."""

from __future__ import annotations

from shlex import quote

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.operation import Knobs, Params, Paths
from envs_forge.synthesis.procedural.plain import PlainTree


class MoveFile(PlainTree):
    """tree → tree."""

    id = "move_file"
    title = "a file moved"
    skills = ("domain/files", "artifact/directory-tree", "tool/mv", "operation/place-files")
    stems = ("directory",)
    slips = ("copied", "renamed")
    said = (
        "In the directory {source}, move the file `{file}` into the folder `{folder}`.",
        "Move `{file}` from the top of the directory {source} down into its folder `{folder}`.",
        "Move the file `{file}` of the directory {source} into the folder `{folder}` there.",
    )

    def changed(self, entries: dict[str, BundleFile], params: Params, slip: str) -> dict[str, BundleFile]:
        """The entry in its new folder."""
        file = entries[params["file"]] if slip == "copied" else entries.pop(params["file"])
        return entries | {f"{params['folder']}{'-' if slip == 'renamed' else '/'}{params['file']}": file}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Mv."""
        return f"cd {paths.source} && mv {quote(params['file'])} {quote(params['folder'])}/"


OPERATION = MoveFile()
