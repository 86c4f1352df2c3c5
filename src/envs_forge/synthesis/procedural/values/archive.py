"""A compressed tar archive."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value
from envs_forge.synthesis.procedural.values.tree import Tree


@dataclass(frozen=True, slots=True)
class Archive(Value):
    """Files and symbolic links by their path in the archive. It is packed when the image is built."""

    reader = "archive"
    suffix = ".tar.gz"
    source = "archive"

    tree: Tree

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """The members as plain files, in a directory that `setup` packs and removes."""
        return self.tree.files(_unpacked(path))

    def setup(self, path: str) -> list[str]:
        """Pack, and leave only the archive."""
        folder, target = shlex.quote(_unpacked(path)), shlex.quote(path)
        packed = (
            f"cd {folder} && find . -mindepth 1 -maxdepth 1 -printf '%P\\0' | sort -z | tar -czf {target} --null -T -"
        )
        return [f"({packed})", f"rm -r {folder}"]

    def canon(self) -> list[str]:
        """One line a file or link, as for trees."""
        return Tree(self.tree.entries).canon()


def _unpacked(path: str) -> str:
    return f"{path}.d"
