"""Bundle → verdict: runs the stages in order, tells the machine's faults from the bundle's."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from envs_forge.bundle.finding import BundleError
from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.reading import read_bundle
from envs_forge.errors import InfrastructureError
from envs_forge.gold.cache import VerdictCache, cache_address, default_cache_root
from envs_forge.gold.inspection import Inspection, failed, machine_error
from envs_forge.gold.machine import describe
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.order import COMPARING, Stage, select
from envs_forge.gold.reasons import MEANINGS, Reason
from envs_forge.gold.stages import schema
from envs_forge.gold.verdict import Decision, StageOutcome, StageResult, Verdict
from envs_forge.sandbox.engine import CannotStartError
from envs_forge.sandbox.runtime import Runtime

VERIFIER_VERSION = "3"
"""Changes whenever a verdict on an unchanged bundle could."""

_DECISIONS = {
    StageOutcome.PASSED: Decision.ACCEPTED,
    StageOutcome.FAILED: Decision.REJECTED,
    StageOutcome.UNSUPPORTED: Decision.UNSUPPORTED,
    StageOutcome.ERROR: Decision.ERROR,
}


def verify(
    bundle: Bundle,
    runtime: Runtime,
    options: VerifyOptions = VerifyOptions(),  # noqa: B008 - frozen
    *,
    cache: VerdictCache | None = None,
    cache_root: Path | None = None,
    workers: int = 1,
) -> Verdict:
    """Verify one bundle. Nothing is raised for what the bundle or the machine does: it is in the verdict.

    Args:
        bundle: Any Harbor task.
        runtime: Where its containers run.
        options: How.
        cache: Where earlier verdicts are taken from and new ones kept; None for no cache.
        cache_root: Where indices of image layers are kept; default `default_cache_root()`.
        workers: Sandboxes of this bundle at work at once, where stages have several trials.

    Raises:
        UserError: The options name a stage that does not exist.
    """
    stages = select(options.stages)
    bundle_hash = content_hash(bundle)
    address = cache_address(bundle, bundle_hash, VERIFIER_VERSION, options, runtime)
    known = cache.get(address) if cache is not None else None
    if known is not None:
        return known.model_copy(update={"bundle_id": bundle.id, "cached": True})
    started = time.monotonic()
    compares = any(stage.name in COMPARING for stage in stages)
    inspection = Inspection(bundle, runtime, options, cache_root or default_cache_root(), workers, compares)
    results = _run(stages, inspection)
    verdict = _verdict(inspection, bundle_hash, results, time.monotonic() - started)
    if cache is not None:
        cache.put(address, verdict)
    return verdict


def verify_directory(
    path: Path,
    runtime: Runtime,
    options: VerifyOptions = VerifyOptions(),  # noqa: B008 - frozen
    *,
    cache: VerdictCache | None = None,
    cache_root: Path | None = None,
    workers: int = 1,
) -> Verdict:
    """Verify the bundle in a directory; one that cannot be read as a bundle is rejected by `schema`.

    Raises:
        UserError: There is no such directory, or no such stage.
    """
    try:
        bundle = read_bundle(path)
    except BundleError as error:
        return unreadable(path.resolve().name, schema.findings_result(error.findings), runtime, options)
    return verify(bundle, runtime, options, cache=cache, cache_root=cache_root, workers=workers)


def _run(stages: Sequence[Stage], inspection: Inspection) -> list[StageResult]:
    """Results of the stages in order, up to the first that did not pass, or of all that could run."""
    results: list[StageResult] = []
    passed: set[str] = set()
    for stage in stages:
        if not passed.issuperset(stage.needs):
            continue
        result = _timed(stage, inspection)
        results.append(result)
        if result.outcome is StageOutcome.PASSED:
            passed.add(stage.name)
        elif not inspection.options.all_findings:
            break
    return results


def _timed(stage: Stage, inspection: Inspection) -> StageResult:
    """Run a stage, again where the machine spoilt it; the time is that of all tries."""
    started = time.monotonic()
    for tries in range(inspection.options.retries + 1):
        if tries:
            time.sleep(inspection.options.pause_s)
        result = _guarded(stage, inspection)
        if result.outcome is not StageOutcome.ERROR:
            break
    return result.model_copy(update={"duration_s": time.monotonic() - started})


def _guarded(stage: Stage, inspection: Inspection) -> StageResult:
    try:
        return stage.run(inspection)
    except CannotStartError as error:
        return failed(stage.name, error.code, error.message)
    except InfrastructureError as error:
        return machine_error(stage.name, error.code, str(error))
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        return machine_error(stage.name, Reason.INTERNAL, f"{MEANINGS[Reason.INTERNAL]}: {error!r}", text)


def unreadable(name: str, result: StageResult, runtime: Runtime, options: VerifyOptions) -> Verdict:
    """The verdict on something that could not be read as a bundle at all."""
    return Verdict(
        bundle_id=name,
        bundle_hash="",
        decision=_DECISIONS[result.outcome],
        stage=result.stage,
        code=result.code,
        stages=(result,),
        engine=runtime.engine.name,
        verifier_version=VERIFIER_VERSION,
        options=options.essence,
        duration_s=0.0,
    )


def _verdict(inspection: Inspection, bundle_hash: str, results: list[StageResult], duration_s: float) -> Verdict:
    first = next((result for result in results if result.outcome is not StageOutcome.PASSED), None)
    built = inspection.built
    return Verdict(
        bundle_id=inspection.bundle.id,
        bundle_hash=bundle_hash,
        decision=_DECISIONS[first.outcome if first is not None else StageOutcome.PASSED],
        stage=first.stage if first is not None else "",
        code=first.code if first is not None else "",
        stages=tuple(results),
        isolation=inspection.isolation,
        engine=built.engine if built is not None else inspection.runtime.engine.name,
        image_id=built.image.id if built is not None else "",
        base_substitutions=dict(inspection.substitutions),
        machine=describe(inspection.runtime, built),
        verifier_version=VERIFIER_VERSION,
        options=inspection.options.essence,
        duration_s=duration_s,
    )
