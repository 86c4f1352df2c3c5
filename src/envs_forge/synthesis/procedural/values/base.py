"""What every value can do: lie in the image as files, and be written out as canonical lines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from envs_forge.bundle.model import BundleFile


class Value(ABC):
    """An immutable piece of data with a type. Two values with equal canonical lines are the same answer."""

    reader: ClassVar[str]
    """Name of the file under `checks/readers/` that turns what lies at a path into canonical lines."""
    suffix: ClassVar[str] = ""
    """Ending of the file names that hold such a value."""
    source: ClassVar[str]
    """Name of the module under `sources/` that makes such a value for the head of a chain."""

    @abstractmethod
    def files(self, path: str) -> Mapping[str, BundleFile]:
        """Absolute path → file, for the image."""

    @abstractmethod
    def canon(self) -> list[str]:
        """The value as lines, exactly as the reader gives them for a right answer."""

    def arguments(self) -> Mapping[str, Any]:
        """JSON values that the reader needs beside the path."""
        return {}

    def setup(self, path: str) -> list[str]:
        """Shell commands that turn the files into the value when the image is built (a database, a repository)."""
        return []
