"""The operations, one file each. A file added here is found by itself."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from envs_forge.synthesis.procedural.operation import Operation


@cache
def operations() -> dict[str, Operation]:
    """Every operation by id, in the order of the ids."""
    names = sorted(module.name for module in iter_modules(__path__))
    found = [cast(Operation, import_module(f"{__name__}.{name}").OPERATION) for name in names]
    return {operation.id: operation for operation in sorted(found, key=lambda o: o.id)}
