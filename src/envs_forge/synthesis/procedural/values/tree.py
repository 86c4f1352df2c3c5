"""A directory with files, links and modes."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value


@dataclass(frozen=True, slots=True)
class Tree(Value):
    """Files and symbolic links by path relative to the directory.

    Attributes:
        entries: Relative path → file.
        modes: Whether permission bits are part of the answer.
    """

    reader = "tree"
    source = "tree"

    entries: Mapping[str, BundleFile]
    modes: bool = False

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """All entries under `path`."""
        return {f"{path}/{name}": file for name, file in sorted(self.entries.items())}

    def setup(self, path: str) -> list[str]:
        """Set every mode that a version control system would not keep."""
        files = [(name, file.mode) for name, file in sorted(self.entries.items()) if file.target is None]
        odd = [(name, mode) for name, mode in files if mode not in (0o644, 0o755)]
        if not self.modes and not odd:
            return []
        plain = f"find {shlex.quote(path)} -type f -exec chmod u=rwX,go=rX {{}} +"
        return [plain, *(f"chmod {mode:o} {shlex.quote(f'{path}/{name}')}" for name, mode in odd)]

    def canon(self) -> list[str]:
        """One line an entry: its name, then `-> target` or the digest of its content, then the mode if it counts."""
        return [self._line(name, file) for name, file in sorted(self.entries.items())]

    def arguments(self) -> Mapping[str, Any]:
        """Whether to read modes."""
        return {"modes": True} if self.modes else {}

    def _line(self, name: str, file: BundleFile) -> str:
        if file.target is not None:
            return f"{name} -> {file.target}"
        digest = hashlib.sha256(file.data).hexdigest()[:12]
        return f"{name} {digest} {file.mode:o}" if self.modes else f"{name} {digest}"
