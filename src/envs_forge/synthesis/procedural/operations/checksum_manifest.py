"""List the files of a tree with their digests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.lines import Lines
from envs_forge.synthesis.procedural.values.tree import Tree

SOLUTION = """\
mkdir -p "$(dirname {target})"
out=$(realpath -m {target})
cd {source}
find {follow}. -type f {only}-printf '%P\\0' | LC_ALL=C sort -z | xargs -0 -r {tool} -- | sed 's/^\\\\//' > "$out"
"""


class ChecksumManifest(Operation):
    """tree → lines."""

    id = "checksum_manifest"
    title = "list of digests"
    takes = Tree
    gives = Lines
    skills = ("domain/files", "artifact/directory-tree", "artifact/text-file", "operation/checksum-manifest")
    stems = ("manifest", "digests", "checksums")
    slips = ("absolute", "top_only", "by_digest")
    said = (
        "Write the SHA-256 digests of all files in the directory {source}, at any depth, to {target}, one line a "
        "file: the digest, two spaces and the path relative to that directory (no dot and slash before it), in the "
        "byte order of the paths; leave symbolic links out.",
        "{target} must list every regular file below the folder {source}, subdirectories included, as `sha256sum` "
        "prints it: digest, two spaces, path; the paths are relative to the folder, without dot and slash in front, "
        "and the lines are sorted by path, byte by byte.",
        "Make a manifest of the directory {source} as {target}: for each regular file, however deep it lies, a line "
        "with its SHA-256 checksum, two spaces and its path within that directory (not beginning with a dot and "
        "slash), ordered bytewise by path, without symbolic links.",
    )
    knobs = (
        Knob(
            "skip_hidden",
            "constraint/hidden-files",
            (
                "Leave out hidden files.",
                "Files whose name begins with a dot are not listed.",
                "Dot files do not belong in the list.",
            ),
            features=("hidden",),
            ambient=False,
        ),
        Knob(
            "links",
            "constraint/symlinks",
            (
                "Even so, list a symbolic link too, under its own path with the digest of what it points to.",
                "But do include symbolic links, each as if it were a copy of the file that it points to.",
                "Symbolic links do count here after all: give the link's path and the digest of the file behind it.",
            ),
            features=("links",),
            ambient=False,
        ),
        Knob(
            "empty",
            "constraint/empty-files",
            (
                "Leave out empty files.",
                "Files of zero bytes are not listed.",
                "A file without content gets no line.",
            ),
            features=("empty",),
            slips=("only",),
            ambient=False,
        ),
        Knob(
            "algorithm",
            "constraint/digest-algorithm",
            (
                "Use MD5 instead of SHA-256.",
                "The receiver only understands MD5, so give MD5 digests in place of SHA-256.",
                "Instead of the SHA-256 digests take those of MD5.",
            ),
            slips=("sha1",),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Tree, knobs: Knobs) -> Params | None:
        """Nothing to choose."""
        return {}

    def apply(self, value: Tree, params: Params, knobs: Knobs, slip: str = "") -> Lines:
        """Digest and path of each file that counts."""
        rows = [(path, self._content(value, file, knobs)) for path, file in value.entries.items()]
        rows = [(path, data) for path, data in rows if self._counts(path, data, knobs, slip)]
        name = "sha256"
        if "algorithm" in knobs:
            name = "sha1" if slip == "algorithm:sha1" else "md5"
        before = "/" if slip == "absolute" else ""
        found = [(before + path, hashlib.new(name, data or b"").hexdigest()) for path, data in rows]
        found.sort(key=lambda row: row[1] if slip == "by_digest" else row[0].encode())
        return Lines(tuple(f"{digest}  {path}" for path, digest in found))

    def _content(self, value: Tree, file: BundleFile, knobs: Knobs) -> bytes | None:
        """What is to be digested; None for a link that does not count."""
        if file.target is None:
            return file.data
        return value.entries[file.target].data if "links" in knobs and file.target in value.entries else None

    def _counts(self, path: str, data: bytes | None, knobs: Knobs, slip: str) -> bool:
        if data is None or (slip == "top_only" and "/" in path):
            return False
        if "skip_hidden" in knobs and path.rpartition("/")[2].startswith("."):
            return False
        return bool(data) != (slip == "empty:only") if "empty" in knobs else True

    def slots(self, params: Params) -> Mapping[str, str]:
        """None."""
        return {}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """find, sort, sha256sum."""
        only = "-not -name '.*' " if "skip_hidden" in knobs else ""
        only += "-size +0 " if "empty" in knobs else ""
        return SOLUTION.format(
            source=paths.source,
            target=paths.target,
            follow="-L " if "links" in knobs else "",
            only=only,
            tool="md5sum" if "algorithm" in knobs else "sha256sum",
        )


OPERATION = ChecksumManifest()
