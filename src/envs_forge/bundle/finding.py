"""What is wrong with a bundle, as data: the type that the schema check and the lint rules share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import UserError


class Severity(StrEnum):
    """An error makes a bundle unusable; a warning is worth a look and may be right as it is."""

    ERROR = "error"
    WARNING = "warning"


class Finding(BaseModel):
    """One thing found in a bundle.

    Attributes:
        code: Stable reason code, e.g. `toml-syntax`.
        severity: Error or warning.
        file: POSIX path in the bundle, empty when the finding is about the whole directory.
        line: Line in `file`, counted from 1; None where there is none.
        message: What is wrong, in one line.
        fix: What to do about it, in one line.
    """

    model_config = ConfigDict(frozen=True)

    code: str
    severity: Severity = Severity.ERROR
    file: str = ""
    line: int | None = None
    message: str
    fix: str = ""

    @property
    def place(self) -> str:
        """File and line for people, on one line whatever the file is called."""
        file = self.file if self.file.isprintable() else repr(self.file)
        return f"{file}:{self.line}" if self.line is not None else file

    def __str__(self) -> str:
        head = f"{self.place}: " if self.place else ""
        tail = f" ({self.fix})" if self.fix else ""
        return f"{head}{self.severity.value} {self.code}: {self.message}{tail}"


class BundleError(UserError):
    """A directory cannot be read as a bundle.

    Attributes:
        findings: Everything that stands in the way, the first one being the message of the error.
    """

    def __init__(self, where: str, findings: Sequence[Finding]) -> None:
        first = findings[0]
        more = f"; {len(findings) - 1} more" if len(findings) > 1 else ""
        head = f"{where}: {first.place}: " if first.place else f"{where}: "
        super().__init__(f"{head}{first.message} [{first.code}]{more}", fix=first.fix or None)
        self.findings = tuple(findings)


def errors_of(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that are errors, in their order."""
    return [f for f in findings if f.severity is Severity.ERROR]
