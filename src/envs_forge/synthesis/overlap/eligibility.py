"""May a seed take part? One that is, or holds, an evaluation task must not: its children would train on it."""

from __future__ import annotations

from envs_forge.bundle.model import Bundle
from envs_forge.synthesis.overlap.corpus import Corpus


def overlap_risk(seed: Bundle, pool: Corpus) -> str:
    """Why a seed's children would leak an evaluation set, in one line; empty when they would not.

    Args:
        seed: A task of the pool.
        pool: Made with the evaluation sets and canaries of the run.
    """
    mark = pool.canary(seed)
    if mark is not None:
        return f"contains the canary {mark} of an evaluation set"
    hit = pool.evaluation_hit(seed)
    if hit is not None:
        return f"overlaps by {hit.similarity:.0%} with the evaluation task {hit.id}"
    return ""
