"""The action audit: did the candidate do what its action asked for? Static, no container, milliseconds a bundle."""

from __future__ import annotations

from envs_forge.bundle.model import Bundle
from envs_forge.synthesis.audit.model import Finding
from envs_forge.synthesis.generator import Assignment
from envs_forge.synthesis.overlap.corpus import Corpus


def audit(parent: Bundle, candidate: Bundle, assignment: Assignment, *, pool: Corpus) -> tuple[Finding, ...]:
    """Everything that speaks against a candidate; empty when nothing does.

    Args:
        parent: The seed as the generator was shown it.
        candidate: What came back, read into a bundle.
        assignment: The action and the skills that it was asked for.
        pool: Seeds, accepted candidates and evaluation sets that it must not repeat. Is not changed: whoever accepts
            a candidate adds it with `pool.add`.
    """
    return ()
