"""`constraints.txt` pins exactly what the project needs, and the environment holds exactly that."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"


def _pins() -> dict[str, str]:
    lines = [line for line in CONSTRAINTS.read_text().splitlines() if line and not line.startswith("#")]
    pairs = [line.split("==") for line in lines]
    return {canonicalize_name(name): version for name, version in pairs}


def _needed() -> set[str]:
    """Names of everything that the project needs with the extra `dev`, through all levels."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    queue = [Requirement(text) for text in project["dependencies"] + project["optional-dependencies"]["dev"]]
    found: set[str] = set()
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        extras = requirement.extras or {""}
        if name in found or (requirement.marker and not requirement.marker.evaluate()):
            continue
        found.add(name)
        for text in metadata.distribution(name).requires or []:
            child = Requirement(text)
            if not child.marker or any(child.marker.evaluate({"extra": extra}) for extra in extras):
                child.marker = None
                queue.append(child)
    return found


def test_everything_needed_is_pinned_to_what_is_installed():
    pins = _pins()
    assert {name: metadata.version(name) for name in _needed()} == {name: pins.get(name) for name in _needed()}


def test_no_pin_is_left_over_and_none_names_a_place():
    assert set(_pins()) <= _needed()
    assert all(re.fullmatch(r"[0-9][0-9A-Za-z.+-]*", version) for version in _pins().values())
