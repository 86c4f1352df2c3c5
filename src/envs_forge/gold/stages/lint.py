"""lint: what can be said against the bundle without running it. Warnings do not reject."""

from __future__ import annotations

from envs_forge.bundle.finding import errors_of
from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.lint.runner import lint
from envs_forge.gold.verdict import StageResult

NAME = "lint"


def run(inspection: Inspection) -> StageResult:
    """All findings of the rules; the first error gives the code."""
    findings = lint(inspection.bundle)
    errors = errors_of(findings)
    if errors:
        evidence = "\n".join(str(finding) for finding in [*errors, *(f for f in findings if f not in errors)])
        return failed(NAME, errors[0].code, errors[0].message, evidence)
    return passed(NAME, warnings=tuple(str(finding) for finding in findings))
