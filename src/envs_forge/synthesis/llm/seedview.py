"""A seed as a prompt shows it: the files that matter most whole, long ones cut in the middle, every cut marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from envs_forge.bundle.check import DOCKERFILE, SOLUTION, TEST
from envs_forge.bundle.config import FILE
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import INSTRUCTION
from envs_forge.synthesis.llm.envelope import block
from envs_forge.synthesis.llm.tokens import estimate_tokens

_MOST_FILES = 12
"""Files of one kind that are shown; of the others the names."""
_HEAD = 0.7
"""Share of what is shown of a cut file that comes from its beginning."""
_LEAST = 40
"""Tokens below which a piece of a file tells nothing."""
_NAMES = 30


@dataclass(frozen=True)
class Tier:
    """Files of one kind: how much of what is left of the budget they may take together, and each at most."""

    share: float
    each: int


_TIERS = (Tier(1.0, 100_000), Tier(0.6, 100_000), Tier(0.7, 100_000), Tier(0.75, 1200), Tier(1.0, 260))
"""Instruction; solution; Dockerfile and test.sh; other tests; data."""


@dataclass(frozen=True)
class SeedView:
    """The seed's files as text.

    Attributes:
        text: Blocks as in an answer, cut ones with a line that says what was left out.
        tokens: Estimate.
        cut: Paths that are not whole.
        whole: Whether the instruction fits.
    """

    text: str
    tokens: int
    cut: tuple[str, ...]
    whole: bool


def view(bundle: Bundle, budget: int) -> SeedView:
    """Show a bundle in about `budget` tokens. Equal bundles and budgets give equal text."""
    left = float(budget)
    parts: list[str] = []
    cut: list[str] = []
    for number, paths in enumerate(_kinds(bundle)):
        tier = _TIERS[number]
        room = max(0.0, left * tier.share)
        for index, path in enumerate(paths[:_MOST_FILES]):
            share = room if number == 0 else min(tier.each, room / (min(len(paths), _MOST_FILES) - index))
            text, whole = _shown(path, bundle.files[path], int(share))
            used = estimate_tokens(text)
            parts.append(text)
            cut += [] if whole else [path]
            room, left = room - used, left - used
        if len(paths) > _MOST_FILES:
            parts.append(_names(paths[_MOST_FILES:]))
            cut += paths[_MOST_FILES:]
            left -= estimate_tokens(parts[-1])
    text = "\n".join(parts)
    return SeedView(text, estimate_tokens(text), tuple(cut), INSTRUCTION not in cut)


def _kinds(bundle: Bundle) -> list[list[str]]:
    """Paths of each tier, sorted, the short ones first among the tests and the data."""
    files = bundle.files
    size = {path: len(file.data) for path, file in files.items()}
    first, second, third = [INSTRUCTION], [p for p in files if p.startswith("solution/")], [DOCKERFILE, TEST]
    rest = [path for path in files if path not in {*first, *second, *third, FILE}]
    tests = [path for path in rest if path.startswith("tests/")]
    data = [path for path in rest if not path.startswith("tests/")]
    order = sorted(second, key=lambda path: (path != SOLUTION, size[path], path))
    by_size = [sorted(paths, key=lambda path: (size[path], path)) for paths in (tests, data)]
    return [[path for path in paths if path in files] for paths in (first, order, third, *by_size)]


def _shown(path: str, file: BundleFile, most: int) -> tuple[str, bool]:
    if file.target is not None:
        return block(path, file), True
    whole = block(path, file)
    if "encoding=base64" in whole.partition("\n")[0]:
        return f"[{path}: {len(file.data)} bytes that are no plain text]", False
    if estimate_tokens(whole) <= most:
        return whole, True
    head, _, body = whole.partition("\n")
    if most < _LEAST:
        return f"[{path}: {len(file.data)} bytes, not shown]", False
    return f"{head}\n{_middle_out(body.removesuffix('@@ END'), most)}@@ END", False


def _middle_out(text: str, most: int) -> str:
    """Lines from both ends of a text, and between them how many are missing."""
    lines = text.split("\n")[:-1] or [text]
    head, spent = _fitting(iter(lines), most * _HEAD)
    rest = lines[len(head) :]
    tail, _ = _fitting(reversed(rest), most - spent)
    missing = rest[: len(rest) - len(tail)]
    if not head and not tail:
        return f"{text[: most * 2]}\n[… {len(text) - most * 2} characters left out …]\n"
    mark = f"[… {len(missing)} lines, {sum(map(len, missing)) + len(missing)} characters left out …]"
    return "\n".join([*head, mark, *reversed(tail)]) + "\n"


def _fitting(lines: Iterator[str], most: float) -> tuple[list[str], float]:
    taken: list[str] = []
    spent = 0.0
    for line in lines:
        spent += estimate_tokens(line) + 1
        if spent > most:
            break
        taken.append(line)
    return taken, min(spent, most)


def _names(paths: list[str]) -> str:
    shown = ", ".join(paths[:_NAMES])
    more = f" and {len(paths) - _NAMES} more" if len(paths) > _NAMES else ""
    return f"[not shown: {shown}{more}]"


def limits_of(bundle: Bundle) -> Mapping[str, object]:
    """What the seed's `task.toml` allows, for the prompt."""
    environment = bundle.config.environment
    return {
        "agent_timeout": f"{bundle.config.agent_timeout_sec:g}",
        "verifier_timeout": f"{bundle.config.verifier_timeout_sec:g}",
        "cpus": f"{environment.cpus:g}",
        "memory_mb": environment.memory_mb,
        "network": environment.network,
    }
