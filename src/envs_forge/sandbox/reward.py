"""Reads a reward from the hostile place where tests leave it. Strict: anything odd is a fault, never a number.

`reward.txt` holds one decimal number; `reward.json` an object whose `reward` is one, and whose other numbers are
metrics. Where both are there, they must agree.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from envs_forge.sandbox.archive import ArchiveError, ArchiveLimits, Kind, entries
from envs_forge.sandbox.engine import Sandbox
from envs_forge.sandbox.verification import RewardFault

VERIFIER_DIR = "/logs/verifier"
TEXT = "reward.txt"
JSON = "reward.json"
SIZE_LIMIT = 64 * 1024
ANY_SIZE = ArchiveLimits(total=2**62, file=2**62)
"""However large a file claims to be, only `SIZE_LIMIT` bytes of it are read."""

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
NON_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Reward:
    """A reward in [0, 1], and the metrics that came with it."""

    value: float
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """What lies at a reward's path: its content, if it is a regular file of a decent size."""

    regular: bool
    size: int = 0
    data: bytes = b""


def read_reward(sandbox: Sandbox) -> Reward | RewardFault:
    """The reward that the tests left in `sandbox`.

    Raises:
        InfrastructureError: The engine could not fetch it.
    """
    return judge(fetch(sandbox, TEXT), fetch(sandbox, JSON))


def fetch(sandbox: Sandbox, name: str) -> Found | None:
    """What lies at `name` in the verifier's directory; None when there is nothing."""
    try:
        with sandbox.get(f"{VERIFIER_DIR}/{name}") as stream:
            listing = entries(stream, ANY_SIZE)
            entry = next(listing, None)
            if entry is None or entry.kind is not Kind.FILE:
                return Found(regular=False)
            return Found(True, entry.size, entry.read(SIZE_LIMIT))
    except FileNotFoundError:
        return None
    except ArchiveError:
        return Found(regular=False)


def judge(text: Found | None, json_file: Found | None) -> Reward | RewardFault:
    """The reward, given what lies at `reward.txt` and at `reward.json`."""
    results = [
        _checked(found, parse) for found, parse in ((text, _parse_text), (json_file, _parse_json)) if found is not None
    ]
    if not results:
        return RewardFault.MISSING
    for result in results:
        if isinstance(result, RewardFault):
            return result
    rewards = [result for result in results if isinstance(result, Reward)]
    if any(reward.value != rewards[0].value for reward in rewards):
        return RewardFault.CONFLICT
    return rewards[-1]


def _checked(found: Found, parse: Callable[[str], Reward | RewardFault]) -> Reward | RewardFault:
    if not found.regular:
        return RewardFault.NOT_A_FILE
    if found.size > SIZE_LIMIT:
        return RewardFault.TOO_LARGE
    try:
        text = found.data.decode("utf-8")
    except UnicodeDecodeError:
        return RewardFault.UNPARSABLE
    return parse(text) if text.strip() else RewardFault.EMPTY


def _parse_text(text: str) -> Reward | RewardFault:
    word = text.strip()
    if NON_FINITE.fullmatch(word):
        return RewardFault.NOT_FINITE
    if not NUMBER.fullmatch(word):
        return RewardFault.UNPARSABLE
    return _in_range(float(word), {})


def _parse_json(text: str) -> Reward | RewardFault:
    try:
        parsed = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return RewardFault.UNPARSABLE
    if not isinstance(parsed, dict) or not _is_number(parsed.get("reward")):
        return RewardFault.UNPARSABLE
    numbers = {key: _float(value) for key, value in parsed.items() if _is_number(value)}
    metrics = {key: value for key, value in numbers.items() if key != "reward" and math.isfinite(value)}
    return _in_range(numbers["reward"], metrics)


def _in_range(value: float, metrics: Mapping[str, float]) -> Reward | RewardFault:
    if not math.isfinite(value):
        return RewardFault.NOT_FINITE
    if not 0.0 <= value <= 1.0:
        return RewardFault.OUT_OF_RANGE
    return Reward(value + 0.0, metrics)  # + 0.0 turns a negative zero into zero


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object, unless a key is there twice: which of the two counts is nobody's to choose."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
