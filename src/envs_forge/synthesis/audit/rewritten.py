"""What of a seed's solution and tests is still there, the files that were kept as they are left aside."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle.model import Bundle, Part
from envs_forge.synthesis.audit.parts import texts_of
from envs_forge.synthesis.bounded import bounded
from envs_forge.synthesis.overlap.document import Document
from envs_forge.synthesis.overlap.prints import SHORT, prints_of
from envs_forge.synthesis.overlap.shingles import containment, shingles_of

_SECTIONS = {"solution": Part.SOLUTION, "tests": Part.TESTS}


def found_again(
    parent: Bundle, candidate: Bundle, common: frozenset[str], names: Mapping[str, str] | None = None
) -> dict[str, float]:
    """The share of the seed's solution and tests that the candidate has too, in [0, 1].

    Files that are the same in both are left out, wherever they stand: a program that checks what a file of expectations
    says is kept for good reason, and would hide that the expectations are new. 1 where there is nothing else.

    Args:
        parent: The seed.
        candidate: What was made of it.
        common: Lines that are boilerplate.
        names: Old names and the new ones that stand for them; such words count as found.
    """
    shares = {}
    for section, part in _SECTIONS.items():
        old, new = texts_of(parent, part), texts_of(candidate, part)
        kept = {*old.values()} & {*new.values()}
        before, after = (_words(section, texts, kept, common) for texts in (old, new))
        renamed = [(names or {}).get(word, word) for word in before]
        shares[section] = containment(shingles_of(renamed, SHORT), shingles_of(after, SHORT))
    return shares


def _words(section: str, texts: Mapping[str, str], kept: set[str], common: frozenset[str]) -> tuple[str, ...]:
    text = "\n".join(bounded(text) for text in texts.values() if text not in kept)
    document = Document("", "", text) if section == "solution" else Document("", "", "", text)
    return prints_of(document, common).words[1 if section == "solution" else 2]
