"""What the policy can do, one file an operation. A file added here is found by itself."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from envs_forge.rollout.policies.builtin.way import OperationWays, Way


@cache
def repertoire() -> tuple[OperationWays, ...]:
    """Every operation's ways, sorted by operation."""
    names = sorted(module.name for module in iter_modules(__path__))
    found = [cast(OperationWays, import_module(f"{__name__}.{name}").WAYS) for name in names]
    return tuple(sorted(found, key=lambda ways: ways.operation))


@cache
def ways_by_id() -> dict[str, Way]:
    """Every way of every operation."""
    found: dict[str, Way] = {}
    for known in repertoire():
        found |= {way.id: way for way in known.base_ways()}
        for detail in known.details:
            found |= {way.id: way for way in known.detail_ways(detail)}
    return found
