"""What is known of a bundle while it is being verified, and what its stages share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from envs_forge.bundle.model import Bundle
from envs_forge.errors import InvariantError
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.paths import named_paths
from envs_forge.gold.reasons import Reason
from envs_forge.gold.state import Reference, State, capture
from envs_forge.gold.verdict import StageOutcome, StageResult
from envs_forge.sandbox.engine import Sandbox
from envs_forge.sandbox.runtime import Prepared, Runtime
from envs_forge.sandbox.verification import Isolation

EVIDENCE_CHARACTERS = 4000
T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True)
class Inspection:
    """One bundle under verification. Each stage reads what earlier ones found out and adds its own.

    Attributes:
        bundle: The task.
        runtime: Where its containers run.
        options: How it is verified.
        cache_root: Where indices of image layers are kept.
        workers: How many sandboxes of this bundle may be at work at once.
        compares: Whether a stage will compare states of sandboxes: then those that run anyway are looked at.
        built: The task with its image.
        isolation: How its tests must run.
        untouched: What lies at the task's paths before anybody works.
        solved: What lies there after each run of the solution that got the full reward.
        reference: See `stages.reference`.
        solution_s: The longest time that the solution took in usual surroundings, in seconds.
        substitutions: Base images that Dockerfiles named → local images that stood in for them.
    """

    bundle: Bundle
    runtime: Runtime
    options: VerifyOptions
    cache_root: Path
    workers: int = 1
    compares: bool = False
    built: Prepared | None = None
    isolation: Isolation = Isolation.FRESH
    untouched: State | None = None
    solved: list[State] = field(default_factory=list)
    reference: Reference | None = None
    solution_s: float = 0.0
    substitutions: dict[str, str] = field(default_factory=dict)
    _paths: list[str] | None = None

    @property
    def prepared(self) -> Prepared:
        """The built bundle; only stages that need `build` may ask."""
        if self.built is None:
            raise InvariantError("a stage that needs the image ran before the build")
        return self.built

    def each(self, run: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
        """What `run` gives for each item, in their order; several at once with several workers.

        With one worker an item is run when its result is asked for.

        Raises:
            InfrastructureError: The machine failed.
        """
        if self.workers == 1 or len(items) < 2:
            yield from map(run, items)
            return
        with ThreadPoolExecutor(min(self.workers, len(items))) as threads:
            yield from threads.map(run, items)

    def look(self, work: Sandbox) -> State:
        """What a sandbox holds at the paths that the task speaks of.

        Raises:
            InfrastructureError: The machine failed.
        """
        if self._paths is None:
            self._paths = named_paths(self.bundle, self.prepared.image.workdir)
        return capture(work, self._paths)


def passed(stage: str, *, warnings: tuple[str, ...] = (), facts: Mapping[str, Any] | None = None) -> StageResult:
    """A stage that found nothing wrong."""
    return StageResult(stage=stage, outcome=StageOutcome.PASSED, warnings=warnings, facts=facts or {})


def failed(
    stage: str, code: Reason | str, message: str, evidence: str = "", facts: Mapping[str, Any] | None = None
) -> StageResult:
    """A stage that found the bundle unsound."""
    result = _not_passed(stage, StageOutcome.FAILED, code, message, evidence)
    return result.model_copy(update={"facts": facts or {}})


def unsupported(stage: str, code: Reason | str, message: str, evidence: str = "") -> StageResult:
    """A stage that cannot judge the bundle here."""
    return _not_passed(stage, StageOutcome.UNSUPPORTED, code, message, evidence)


def machine_error(stage: str, code: str, message: str, evidence: str = "") -> StageResult:
    """A stage that the machine spoilt."""
    return _not_passed(stage, StageOutcome.ERROR, code, message, evidence)


def _not_passed(stage: str, outcome: StageOutcome, code: str, message: str, evidence: str) -> StageResult:
    tail = evidence[-EVIDENCE_CHARACTERS:]
    return StageResult(stage=stage, outcome=outcome, code=str(code), message=message, evidence=tail)
