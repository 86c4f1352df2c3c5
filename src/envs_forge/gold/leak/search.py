"""Secrets × contents of an image → findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from envs_forge.gold.leak.index import ContentIndex
from envs_forge.gold.leak.secrets import Kind, Secret

MIN_CHARACTERS = 48
"""Characters that the lines found must have together."""
MIN_SHARE = 0.6
"""Share of a file's own lines that one document must have."""
_SOLITARY = 40
"""Characters that a file's only own line must have to count alone."""
_SAYS_ANSWER = re.compile(r"answer|expect|solution|oracle|truth|golden|reward|secret", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Leak:
    """One secret found in one document. `suspicious` is False where the task may well mean it."""

    secret: Secret
    document: str
    share: float
    suspicious: bool

    def __str__(self) -> str:
        return f"{self.secret.path} ({self.share:.0%}) in {self.document}"


def find_leaks(secrets: Iterable[Secret], indices: Iterable[ContentIndex], instruction: str) -> list[Leak]:
    """Every secret that some document holds, the surest first.

    Args:
        secrets: From `secrets_of`.
        indices: What the image holds.
        instruction: What the agent is told; a place that it names holds by design what it holds.
    """
    found: list[Leak] = []
    wanted = list(secrets)
    for index in indices:
        for secret in wanted:
            found.extend(_leaks(secret, index, instruction))
    return sorted(found, key=lambda leak: (not leak.suspicious, -leak.share, leak.secret.path, leak.document))


def _leaks(secret: Secret, index: ContentIndex, instruction: str) -> Iterator[Leak]:
    prints = set(secret.lines) | {one for one in (secret.whole, secret.compiled) if one is not None}
    for document, seen in index.occurrences(prints).items():
        share = _share(secret, seen)
        if share:
            yield Leak(secret, document, share, _suspicious(secret, document, instruction))


def _share(secret: Secret, seen: set[int]) -> float:
    """How much of a secret a document gives away; 0 where it is too little to say so."""
    lines = secret.lines
    if secret.compiled in seen:
        return 1.0
    if secret.whole in seen or (len(lines) >= 3 and lines.keys() <= seen):
        return 1.0 if sum(lines.values()) >= MIN_CHARACTERS or secret.whole in seen else 0.0
    own = secret.own & seen
    if not own:
        return 0.0
    characters = sum(lines[line] for line in own)
    if len(secret.own) == 1:
        return 1.0 if characters >= _SOLITARY else 0.0
    share = len(own) / len(secret.own)
    return share if share >= MIN_SHARE and len(own) >= 2 and characters >= MIN_CHARACTERS else 0.0


def _suspicious(secret: Secret, document: str, instruction: str) -> bool:
    """Whether a task can hardly mean that the agent finds this here.

    The entry scripts never. Other files of the solution unless the environment shows the same file openly: then it
    is something that the solution leaves as it is. Data unless the instruction names the place, or the environment
    shows it openly under a name that does not speak of an answer: then it is an input of which tests keep a copy.
    """
    path = document.partition(" → ")[0]
    openly = secret.shown and document == path
    if secret.path == "solution/solve.sh" or secret.kind is Kind.TESTS:
        return True
    if secret.kind is Kind.SOLUTION:
        return not openly
    return not (_named(path, instruction) or (openly and not _SAYS_ANSWER.search(path) and not _hidden(path)))


def _named(path: str, instruction: str) -> bool:
    """Whether the instruction names the file, or a directory that it is in."""
    place = PurePosixPath("/" + path.lstrip("/"))
    if place.name in instruction:
        return True
    return any(str(parent) in instruction for parent in place.parents if len(parent.parts) > 2) or (
        ".git" in place.parts and re.search(r"\bgit\b", instruction, re.IGNORECASE) is not None
    )


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(path).parts)
