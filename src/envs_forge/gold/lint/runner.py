"""Applies the rules to a bundle."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from envs_forge.bundle.finding import Finding
from envs_forge.bundle.model import Bundle
from envs_forge.errors import UserError
from envs_forge.gold.lint import rules  # noqa: F401 - registers them
from envs_forge.gold.lint.registry import RULES, Rule
from envs_forge.gold.lint.task import Task


def lint(bundle: Bundle, select: Iterable[str] | None = None, ignore: Iterable[str] = ()) -> list[Finding]:
    """Everything that the rules find in a bundle, without a container.

    Args:
        bundle: A bundle that could be read; the schema check is a separate matter.
        select: Codes of the rules to apply; None applies all.
        ignore: Codes to leave out of these.

    Returns:
        Findings in the order of files and lines. An error means that the bundle cannot be sound.

    Raises:
        UserError: A code is unknown.
    """
    task = Task(bundle)
    findings = [
        Finding(
            code=rule.code,
            severity=hit.severity or rule.severity,
            file=hit.file,
            line=hit.line,
            message=hit.message,
            fix=rule.fix,
        )
        for rule in _chosen(select, ignore)
        for hit in rule.check(task)
    ]
    return sorted(findings, key=lambda f: (f.file, f.line or 0, f.code, f.message))


def _chosen(select: Iterable[str] | None, ignore: Iterable[str]) -> list[Rule]:
    selected = list(RULES) if select is None else list(select)
    ignored = set(ignore)
    for code in [*selected, *ignored]:
        if code not in RULES:
            near = difflib.get_close_matches(code, RULES, n=1)
            fix = f"did you mean {near[0]}?" if near else "see docs/verification-lint.md for the rules"
            raise UserError(f"no lint rule is called {code!r}", fix=fix)
    return [RULES[code] for code in dict.fromkeys(selected) if code not in ignored]
