"""Paths through which an agent could decide what the tests see: programs, libraries, configuration, hooks.

A change to one of them reaches the tests only where the oracle made it too, or where the instruction names the file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import PurePosixPath

from envs_forge.bundle.model import Bundle
from envs_forge.sandbox.engine import FileChange, Image

SYSTEM = ("bin", "sbin", "usr", "lib", "lib32", "lib64", "libx32", "etc")
"""Top-level directories of the system."""
HOMES = re.compile(r"/(root|home/[^/]+)/")
HOME_DIRECTORIES = frozenset({".local", ".config", ".pyenv", ".cargo", ".nvm", ".npm-global"})
STARTUP_FILES = frozenset(
    {
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".bash_aliases",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".inputrc",
        ".pythonrc",
        ".pdbrc",
        ".gitconfig",
        ".curlrc",
        ".wgetrc",
        ".npmrc",
        ".sqliterc",
        ".jq",
        ".toprc",
        ".ssh",
    }
)
"""What shells and tools read from a home directory."""
HOOKS = frozenset(
    {"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "sitecustomize.py", "usercustomize.py", ".coveragerc"}
)
"""Names under which pytest and Python run or read files wherever they find them."""
ROOT_FILES = frozenset({"setup.cfg", "setup.py", "pyproject.toml"})
"""Names that pytest looks for above `/tests`."""
GIT_CONFIGURATION = frozenset({"config", "config.worktree"})
"""Names under which a repository, a work tree of it or a submodule keeps settings, among them programs to run."""
_IMPORT = re.compile(r"^\s*(?:from|import)\s+([A-Za-z_]\w*)", re.MULTILINE)
ALWAYS_IMPORTED = sys.stdlib_module_names - {"test", "this"} | {
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "packaging",
    "py",
}
"""What tests in Python may import, with the working directory first on its path."""


class Protection:
    """Says which paths are protected for one bundle.

    Args:
        bundle: Its tests say what they import, its instruction what the agent is meant to write.
        image: Its PATH and working directory.
    """

    def __init__(self, bundle: Bundle, image: Image) -> None:
        self._instruction = bundle.instruction
        self._workdir = image.workdir.rstrip("/")
        self._program_directories = _program_directories(image.env.get("PATH", ""))
        self._imported = ALWAYS_IMPORTED | _imported(bundle)

    def covers(self, path: str) -> bool:
        """Whether a change at `path` is kept from the tests, unless the oracle makes it too."""
        parts = path.strip("/").split("/")
        if parts[0] in SYSTEM or any(path.startswith(f"{place}/") for place in self._program_directories):
            return True
        return _is_git_hook(parts) or (self._is_hook(path, parts) and parts[-1] not in self._instruction)

    def _is_hook(self, path: str, parts: list[str]) -> bool:
        name = parts[-1]
        if name in HOOKS or name.endswith(".pth") or (len(parts) == 1 and name in ROOT_FILES):
            return True
        home = HOMES.match(path)
        if home is not None:
            first = path[home.end() :].partition("/")[0]
            if first in HOME_DIRECTORIES or first in STARTUP_FILES:
                return True
        return path.startswith(f"{self._workdir}/") and self._shadows(path[len(self._workdir) + 1 :])

    def _shadows(self, path: str) -> bool:
        """Whether a path in the working directory is a module by the name of one that the tests import."""
        name, _, rest = path.partition("/")
        if rest:
            return rest == "__init__.py" and name in self._imported
        stem, _, suffix = name.partition(".")
        return stem in self._imported and suffix.rpartition(".")[2] in ("py", "so", "pyc")


def _is_git_hook(parts: list[str]) -> bool:
    """Whether git runs programs that a path names or is, in whatever repository it lies."""
    place = next((at for at, part in enumerate(parts[:-1], 1) if part.endswith(".git")), None)
    if place is None:
        return False
    first, *others = parts[place:]
    if first in ("modules", "worktrees"):
        return "hooks" in others or bool(GIT_CONFIGURATION.intersection(others[-1:]))
    return first == "hooks" or (not others and first in GIT_CONFIGURATION)


def spoilt(changes: Iterable[FileChange], protection: Protection) -> list[FileChange]:
    """The changes at protected paths. Directories that only hold other changes are not counted."""
    listed = list(changes)
    holding = _holding(listed)
    return [c for c in listed if protection.covers(c.path) and (c.deleted or c.path not in holding)]


def carried(changes: Iterable[FileChange], protection: Protection, restored: frozenset[str]) -> list[FileChange]:
    """The changes that remain when `restored` are undone, without protected directories that only hold others."""
    listed = list(changes)
    holding = _holding(listed)
    left = (change for change in listed if change.path not in restored)
    return [c for c in left if c.deleted or c.path not in holding or not protection.covers(c.path)]


def _holding(changes: Iterable[FileChange]) -> set[str]:
    return {str(parent) for change in changes for parent in PurePosixPath(change.path).parents}


def is_kept(path: str, kept: frozenset[str]) -> bool:
    """Whether a protected change is let through, because the oracle makes it too. Caches of Python never are."""
    return path in kept and "/__pycache__/" not in path


def _program_directories(path: str) -> tuple[str, ...]:
    """Directories of PATH outside of the system, with the libraries beside them."""
    found: list[str] = []
    for place in path.split(":"):
        parts = place.strip("/").split("/")
        if place.startswith("/") and len(parts) > 1 and parts[0] not in SYSTEM:
            found.append(place.rstrip("/"))
            if parts[-1] == "bin":
                found.append(f"{place.rstrip('/').removesuffix('/bin')}/lib")
    return tuple(found)


def _imported(bundle: Bundle) -> frozenset[str]:
    """Top-level modules that the tests import."""
    texts = (
        file.data.decode("utf-8", errors="replace")
        for path, file in bundle.files.items()
        if path.startswith("tests/") and path.endswith((".py", ".sh"))
    )
    return frozenset(name for text in texts for name in _IMPORT.findall(text))
