"""`constraints.txt` pins exactly what the project needs, and the environment holds exactly that."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CONSTRAINTS = Path(__file__).resolve().parents[2] / "constraints.txt"


def _pins() -> dict[str, str]:
    lines = [line for line in CONSTRAINTS.read_text().splitlines() if line and not line.startswith("#")]
    pairs = [line.split("==") for line in lines]
    return {canonicalize_name(name): version for name, version in pairs}


def _needed() -> set[str]:
    """Names of everything that the package needs with the extra `dev`, through all levels."""
    found: set[str] = set()
    queue = [("envs-forge", frozenset({"dev", ""}))]
    while queue:
        name, extras = queue.pop()
        for text in metadata.distribution(name).requires or []:
            requirement = Requirement(text)
            wanted = not requirement.marker or any(requirement.marker.evaluate({"extra": extra}) for extra in extras)
            child = canonicalize_name(requirement.name)
            if wanted and child not in found:
                found.add(child)
                queue.append((child, frozenset({"", *requirement.extras})))
    return found


def test_everything_needed_is_pinned_to_what_is_installed():
    pins = _pins()
    assert {name: metadata.version(name) for name in _needed()} == {name: pins.get(name) for name in _needed()}


def test_no_pin_is_left_over_and_none_names_a_place():
    assert set(_pins()) <= _needed()
    assert all(re.fullmatch(r"[0-9][0-9A-Za-z.+-]*", version) for version in _pins().values())
