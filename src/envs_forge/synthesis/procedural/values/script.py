"""A shell script, known by what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value
from envs_forge.synthesis.procedural.values.table import Table


@dataclass(frozen=True, slots=True)
class Case:
    """One call of a script.

    Attributes:
        arguments: Words of the command line.
        files: What lies in the directory where it runs: name → text.
        status: Whether the exit status is part of the answer.
    """

    arguments: tuple[str, ...]
    files: Mapping[str, str]
    status: bool = False


@dataclass(frozen=True, slots=True)
class Script(Value):
    """Keeps the lines of a CSV file with at least some number. It is known by what it does in every case.

    Attributes:
        text: Of a script that does so.
        cases: The calls.
        outcome: What comes out, in the order of the cases: `number: line` a line of output, `number ends with status`.
        field: Where the number stands, from 1.
        sample: A table of the kind that it reads.
        direct: Whether it is started by its path, so that it needs its run bit.
    """

    reader = "script"
    suffix = ".sh"
    source = "script"

    text: str
    cases: tuple[Case, ...]
    outcome: tuple[str, ...]
    field: int
    sample: Table
    direct: bool = False

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """One file with a run bit."""
        return {path: BundleFile(data=self.text.encode(), mode=0o755)}

    def canon(self) -> list[str]:
        """The outcome."""
        return list(self.outcome)

    def arguments(self) -> Mapping[str, Any]:
        """The cases."""
        cases = [{"arguments": c.arguments, "files": dict(c.files), "status": c.status} for c in self.cases]
        return {"cases": cases, **({"direct": True} if self.direct else {})}
