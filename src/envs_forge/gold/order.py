"""Which stages there are, in which order, and what each needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from envs_forge.gold.inspection import Inspection
from envs_forge.gold.stages import build, oracle, schema, untouched
from envs_forge.gold.verdict import StageResult


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. `needs` names the stages that must have passed before it can run."""

    name: str
    run: Callable[[Inspection], StageResult]
    needs: tuple[str, ...] = ()


STAGES: tuple[Stage, ...] = (
    Stage(schema.NAME, schema.run),
    Stage(build.NAME, build.run, (schema.NAME,)),
    Stage(untouched.NAME, untouched.run, (build.NAME,)),
    Stage(oracle.NAME, oracle.run, (build.NAME,)),
)
"""Cheapest first."""
