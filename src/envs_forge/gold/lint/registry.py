"""The table of lint rules: each is a small function with a code, a severity and a one-line fix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from envs_forge.bundle.finding import Severity
from envs_forge.gold.lint.task import Task

ERROR = Severity.ERROR
WARNING = Severity.WARNING


@dataclass(frozen=True, slots=True)
class Hit:
    """One place where a rule applies. `severity` overrides the rule's own where that is less sure."""

    message: str
    file: str = ""
    line: int | None = None
    severity: Severity | None = None


Check = Callable[[Task], Iterator[Hit]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        code: Stable; what `--select` and `--ignore` take.
        severity: An error only where no sound task can trip it.
        summary: What is wrong, for the table of rules.
        fix: What to do about it, in one line.
        check: Finds the places.
    """

    code: str
    severity: Severity
    summary: str
    fix: str
    check: Check


RULES: dict[str, Rule] = {}


def rule(code: str, severity: Severity, summary: str, *, fix: str) -> Callable[[Check], Check]:
    """Register a function as the rule `code`."""

    def register(check: Check) -> Check:
        if code in RULES:
            raise ValueError(f"two rules are called {code}")
        RULES[code] = Rule(code, severity, summary, fix, check)
        return check

    return register
