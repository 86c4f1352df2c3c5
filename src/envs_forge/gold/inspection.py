"""What is known of a bundle while it is being verified, and what its stages share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from envs_forge.bundle.model import Bundle
from envs_forge.errors import InvariantError
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.reasons import Reason
from envs_forge.gold.state import Reference
from envs_forge.gold.verdict import StageOutcome, StageResult
from envs_forge.sandbox.runtime import Prepared, Runtime
from envs_forge.sandbox.verification import Isolation

EVIDENCE_CHARACTERS = 4000


@dataclass(slots=True)
class Inspection:
    """One bundle under verification. Each stage reads what earlier ones found out and adds its own."""

    bundle: Bundle
    runtime: Runtime
    options: VerifyOptions
    cache_root: Path
    built: Prepared | None = None
    isolation: Isolation = Isolation.FRESH
    reference: Reference | None = None
    solution_s: float = 0.0
    substitutions: dict[str, str] = field(default_factory=dict)

    @property
    def prepared(self) -> Prepared:
        """The built bundle; only stages that need `build` may ask."""
        if self.built is None:
            raise InvariantError("a stage that needs the image ran before the build")
        return self.built


def passed(stage: str, *, warnings: tuple[str, ...] = ()) -> StageResult:
    """A stage that found nothing wrong."""
    return StageResult(stage=stage, outcome=StageOutcome.PASSED, warnings=warnings)


def failed(stage: str, code: Reason | str, message: str, evidence: str = "") -> StageResult:
    """A stage that found the bundle unsound."""
    return _not_passed(stage, StageOutcome.FAILED, code, message, evidence)


def unsupported(stage: str, code: Reason | str, message: str, evidence: str = "") -> StageResult:
    """A stage that cannot judge the bundle here."""
    return _not_passed(stage, StageOutcome.UNSUPPORTED, code, message, evidence)


def machine_error(stage: str, code: str, message: str, evidence: str = "") -> StageResult:
    """A stage that the machine spoilt."""
    return _not_passed(stage, StageOutcome.ERROR, code, message, evidence)


def _not_passed(stage: str, outcome: StageOutcome, code: str, message: str, evidence: str) -> StageResult:
    tail = evidence[-EVIDENCE_CHARACTERS:]
    return StageResult(stage=stage, outcome=outcome, code=str(code), message=message, evidence=tail)
