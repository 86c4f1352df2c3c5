"""Checks of candidates around verification: the audit before it, the band of measured pass rates after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from envs_forge.bundle.model import Bundle
from envs_forge.config import RunConfig
from envs_forge.rollout.trial import PassRate
from envs_forge.synthesis.audit.model import Finding
from envs_forge.synthesis.generator import Assignment

BAND = "band"
BELOW, ABOVE, UNMEASURED = "below-band", "above-band", "unmeasured"
"""Codes of the stage `band`. Unmeasured: all rollouts were run and none counts, for reasons of policy or task."""


@dataclass(frozen=True)
class Failed:
    """A check after verification rejects a candidate."""

    stage: str
    code: str
    evidence: str


class Auditor:
    """The audit with what a run adds to it: seeds, evaluation sets, and candidates as they are accepted.

    Args:
        seeds: The pool.
        config: `against` and `canaries` name what must not be repeated.
        whole: Whether candidates are held against their action too, not only against evaluation sets.
    """

    def __init__(self, seeds: Sequence[Bundle], config: RunConfig, *, whole: bool) -> None:
        from envs_forge.synthesis.overlap.corpus import Corpus
        from envs_forge.synthesis.overlap.evaluation import read_evaluation

        self._pool = Corpus(seeds, evaluation=read_evaluation(config.against), canaries=config.canaries)
        self._whole = whole

    def check(self, parent: Bundle, candidate: Bundle, assignment: Assignment) -> Sequence[Finding]:
        """What speaks against a candidate, the most telling first."""
        from envs_forge.synthesis.audit.check import audit
        from envs_forge.synthesis.audit.novelty import contaminations

        if not self._whole:
            return tuple(contaminations(candidate, self._pool))
        return audit(parent, candidate, assignment, pool=self._pool)

    def accept(self, candidate: Bundle) -> None:
        """From now on nothing may be a near copy of this one."""
        self._pool.add(candidate)


def make_auditor(config: RunConfig) -> Callable[[Sequence[Bundle]], Auditor] | None:
    """How an auditor is made once the seeds are known; None where there is nothing to check."""
    whole = config.generator != "procedural" if config.audit is None else config.audit
    if not whole and not config.against and not config.canaries:
        return None
    return lambda seeds: Auditor(seeds, config, whole=whole)


def overlap_check(config: RunConfig) -> Callable[[Bundle], str] | None:
    """Why a seed must not be a parent because it resembles evaluation tasks; None where there are none.

    Raises:
        UserError: An evaluation set cannot be read.
    """
    if not config.against and not config.canaries:
        return None
    from envs_forge.synthesis.overlap.corpus import Corpus
    from envs_forge.synthesis.overlap.eligibility import overlap_risk
    from envs_forge.synthesis.overlap.evaluation import read_evaluation

    pool = Corpus(evaluation=read_evaluation(config.against), canaries=config.canaries)
    return lambda seed: overlap_risk(seed, pool)


def band_check(band: tuple[float, float] | None) -> Callable[[PassRate, float], Failed | None]:
    """Why a measured pass rate will not do. It must be that of a complete measurement, see `PassRate.missing`."""

    def check(rate: PassRate, predicted: float) -> Failed | None:
        if band is None:
            return None
        if rate.rate is None:
            wanted = f"a pass rate of {band[0]:g} to {band[1]:g} is wanted"
            return Failed(BAND, UNMEASURED, f"none of the agent's tries counts ({statuses(rate)}); {wanted}")
        if band[0] <= rate.rate <= band[1]:
            return None
        code, way = (BELOW, "too hard") if rate.rate < band[0] else (ABOVE, "too easy")
        evidence = (
            f"the agent passes {rate.k:g} of {rate.n} tries (rate {rate.rate:.2f}); {predicted:.2f} was predicted and "
            f"{band[0]:g} to {band[1]:g} is wanted: the environment is {way}"
        )
        return Failed(BAND, code, evidence)

    return check


def statuses(rate: PassRate) -> str:
    """How the rollouts behind a rate ended: `3 failed, 1 agent-error`, the most frequent first."""
    ends = sorted(rate.statuses.items(), key=lambda end: -end[1])
    return ", ".join(f"{count} {status}" for status, count in ends) or "there was none"
