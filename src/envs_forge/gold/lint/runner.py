"""Applies the rules to a bundle."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from pathlib import Path

from envs_forge.bundle.check import check_bundle
from envs_forge.bundle.codes import SCHEMA_CODES
from envs_forge.bundle.finding import Finding
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.reading import directory, try_read
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


def inspect(path: str | Path, select: Iterable[str] | None = None, ignore: Iterable[str] = ()) -> list[Finding]:
    """The schema check of a directory and, when it can be read, the lint rules: what `envs-forge lint` says.

    Args:
        path: A task directory.
        select: Codes of the check and of the rules to report; None reports all.
        ignore: Codes to leave out of these.

    Raises:
        UserError: There is no such directory, or a code is unknown.
    """
    selected = None if select is None else set(select)
    ignored = set(ignore)
    _know((selected or set()) | ignored, {*RULES, *SCHEMA_CODES})
    findings = check_bundle(path)
    bundle, _ = try_read(directory(path))
    if bundle is not None:
        findings = findings + lint(bundle, select=None if selected is None else selected & set(RULES))
    return [f for f in findings if (selected is None or f.code in selected) and f.code not in ignored]


def _chosen(select: Iterable[str] | None, ignore: Iterable[str]) -> list[Rule]:
    selected = list(RULES) if select is None else list(select)
    ignored = set(ignore)
    _know([*selected, *ignored], RULES)
    return [RULES[code] for code in dict.fromkeys(selected) if code not in ignored]


def _know(codes: Iterable[str], known: Collection[str]) -> None:
    for code in codes:
        if code not in known:
            near = difflib.get_close_matches(code, known, n=1)
            fix = f"did you mean {near[0]}?" if near else "see docs/verification-lint.md for the codes"
            raise UserError(f"no lint rule is called {code!r}", fix=fix)
