"""The action audit: did the candidate do what its action asked for? Static, no container, tens of milliseconds."""

from __future__ import annotations

from envs_forge.bundle.model import Bundle
from envs_forge.synthesis.audit.direction import wrong_direction
from envs_forge.synthesis.audit.giveaway import given_away
from envs_forge.synthesis.audit.mask import forbidden_changes, unchanged_parts
from envs_forge.synthesis.audit.mismatch import mismatched
from envs_forge.synthesis.audit.model import Finding
from envs_forge.synthesis.audit.novelty import contaminations, copies
from envs_forge.synthesis.audit.overheard import overheard
from envs_forge.synthesis.audit.skills import lost_skills
from envs_forge.synthesis.audit.stated import unstated_keys, unstated_numbers, unstated_paths
from envs_forge.synthesis.audit.statements import Statements
from envs_forge.synthesis.generator import Assignment
from envs_forge.synthesis.overlap.corpus import Corpus


def audit(parent: Bundle, candidate: Bundle, assignment: Assignment, *, pool: Corpus) -> tuple[Finding, ...]:
    """Everything that speaks against a candidate; empty when nothing does.

    The most telling finding comes first: a copy has unchanged parts too, but the fault is that it is a copy.

    Args:
        parent: The seed as the generator was shown it.
        candidate: What came back, read into a bundle.
        assignment: The action and the skills that it was asked for.
        pool: Seeds, accepted candidates and evaluation sets that it must not repeat. Is not changed: whoever accepts
            a candidate adds it with `pool.add`.
    """
    action, new = assignment.action, Statements(candidate)
    old = Statements(parent)
    return (
        *contaminations(candidate, pool),
        *copies(parent, candidate, action, pool),
        *unchanged_parts(parent, candidate, action.projection),
        *forbidden_changes(parent, candidate),
        *given_away(new, old),
        *overheard(new, old),
        *unstated_paths(new),
        *unstated_keys(new),
        *unstated_numbers(new),
        *mismatched(new, old),
        *lost_skills(parent, candidate, assignment.required),
        *wrong_direction(parent, candidate, action.projection),
    )
