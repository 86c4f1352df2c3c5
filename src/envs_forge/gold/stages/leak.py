"""leak: the built image does not hold the solution, the tests or the answer, in whatever wrapping."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from envs_forge.gold.inspection import Inspection, failed, passed
from envs_forge.gold.leak.layers import LayerReader
from envs_forge.gold.leak.search import Leak, find_leaks
from envs_forge.gold.leak.secrets import Kind, secrets_of
from envs_forge.gold.reasons import Reason
from envs_forge.gold.verdict import StageResult

NAME = "leak"
SHOWN = 20
"""Findings that go into the evidence."""

_CODES = {
    Kind.SOLUTION: Reason.SOLUTION_IN_IMAGE,
    Kind.TESTS: Reason.TESTS_IN_IMAGE,
    Kind.DATA: Reason.ANSWER_IN_IMAGE,
}


def run(inspection: Inspection) -> StageResult:
    """Search what the build has added to its base images."""
    bundle, prepared = inspection.bundle, inspection.prepared
    secrets = secrets_of(bundle)
    indices = _reader(inspection.cache_root / "layers").indices(prepared.image.id, bundle, prepared.substitutions)
    return conclude(find_leaks(secrets, indices, bundle.instruction))


@lru_cache(maxsize=4)
def _reader(directory: Path) -> LayerReader:
    return LayerReader(directory)


def conclude(leaks: list[Leak]) -> StageResult:
    """The stage's result; findings that the task may well mean are warnings."""
    lines = [str(leak) for leak in leaks[:SHOWN]]
    if leaks and leaks[0].suspicious:
        worst = leaks[0]
        return failed(NAME, _CODES[worst.secret.kind], f"the image holds {worst}", "\n".join(lines))
    return passed(NAME, warnings=tuple(f"the image holds {line}" for line in lines))
