"""A configuration file: sections of settings, with comments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value


@dataclass(frozen=True, slots=True)
class Config(Value):
    """Lines `[section]`, `key = value` and `# comment`, without blank lines. Every line counts."""

    reader = "lines"
    suffix = ".ini"
    source = "config"

    lines: tuple[str, ...]

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """One text file."""
        return {path: BundleFile(data="".join(f"{line}\n" for line in self.lines).encode())}

    def canon(self) -> list[str]:
        """The lines themselves."""
        return list(self.lines)

    def placed(self) -> list[tuple[str, str]]:
        """For each line its section and its key; the key is empty for headings and comments."""
        found: list[tuple[str, str]] = []
        section = ""
        for line in self.lines:
            section = line[1:-1] if line.startswith("[") else section
            key = line.partition(" = ")[0] if " = " in line and not line.startswith("#") else ""
            found.append((section, key))
        return found
