"""schema: can this be a task at all, and one that this machine can run? No container."""

from __future__ import annotations

from collections.abc import Sequence

from envs_forge.bundle.check import check_bundle
from envs_forge.bundle.finding import Finding, errors_of
from envs_forge.bundle.support import unsupported as unsupported_findings
from envs_forge.gold.inspection import Inspection, failed, passed, unsupported
from envs_forge.gold.verdict import StageResult

NAME = "schema"


def run(inspection: Inspection) -> StageResult:
    """All findings of the static check; the first error gives the code."""
    findings = check_bundle(inspection.bundle)
    if errors_of(findings):
        return findings_result(findings)
    missing = unsupported_findings(inspection.bundle)
    if missing:
        first = missing[0]
        return unsupported(NAME, first.code, first.message, _lines(missing))
    return findings_result(findings)


def findings_result(findings: Sequence[Finding]) -> StageResult:
    """The result of findings that may hold errors."""
    errors = errors_of(findings)
    if errors:
        return failed(NAME, errors[0].code, errors[0].message, _lines(findings))
    return passed(NAME, warnings=tuple(str(finding) for finding in findings))


def _lines(findings: Sequence[Finding]) -> str:
    return "\n".join(str(finding) for finding in findings)
