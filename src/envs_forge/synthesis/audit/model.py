"""What an audit finds: reason codes with their evidence. `docs/audit.md` shows the same table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AuditCode(StrEnum):
    """Why a candidate is not what its action asked for. Codes never change their meaning."""

    PART_UNCHANGED = "part-unchanged"
    FORBIDDEN_CHANGE = "forbidden-change"
    NEAR_COPY_PARENT = "near-copy-parent"
    NEAR_COPY_SEED = "near-copy-seed"
    NEAR_COPY_CANDIDATE = "near-copy-candidate"
    NAMES_ONLY = "names-only"
    EVALUATION_OVERLAP = "evaluation-overlap"
    CANARY = "canary"
    SKILL_LOST = "skill-lost"
    ANSWER_IN_INSTRUCTION = "answer-in-instruction"
    ASSIGNMENT_IN_INSTRUCTION = "assignment-in-instruction"
    UNSTATED_PATH = "unstated-path"
    UNSTATED_KEY = "unstated-key"
    UNSTATED_NUMBER = "unstated-number"
    PARAMETER_MISMATCH = "parameter-mismatch"
    WRONG_DIRECTION = "wrong-direction"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a candidate.

    Attributes:
        code: A value of `AuditCode`.
        evidence: What was seen, in one or a few lines, fit to be shown to a model that repairs it.
        where: Path in the bundle or letter of a part; empty when it is about the whole.
    """

    code: str
    evidence: str
    where: str = ""

    def __str__(self) -> str:
        return f"{self.code}{f' ({self.where})' if self.where else ''}: {self.evidence}"
