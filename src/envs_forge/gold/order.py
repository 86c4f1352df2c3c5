"""Which stages there are, in which order, and what each needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from envs_forge.errors import UserError
from envs_forge.gold.inspection import Inspection
from envs_forge.gold.stages import build, leak, lint, mutants, oracle, repeat, schema, tamper, untouched
from envs_forge.gold.verdict import StageResult


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. `needs` names the stages that must have passed before it can run."""

    name: str
    run: Callable[[Inspection], StageResult]
    needs: tuple[str, ...] = ()


STAGES: tuple[Stage, ...] = (
    Stage(schema.NAME, schema.run),
    Stage(lint.NAME, lint.run, (schema.NAME,)),
    Stage(build.NAME, build.run, (schema.NAME,)),
    Stage(leak.NAME, leak.run, (build.NAME,)),
    Stage(untouched.NAME, untouched.run, (build.NAME,)),
    Stage(oracle.NAME, oracle.run, (build.NAME,)),
    Stage(repeat.NAME, repeat.run, (oracle.NAME,)),
    Stage(tamper.NAME, tamper.run, (untouched.NAME, oracle.NAME)),
    Stage(mutants.NAME, mutants.run, (oracle.NAME,)),
)
"""Cheapest first."""

FAST: tuple[str, ...] = (schema.NAME, lint.NAME, build.NAME, leak.NAME, untouched.NAME, oracle.NAME)
"""The stages that `--fast` runs."""


COMPARING: frozenset[str] = frozenset({tamper.NAME, mutants.NAME})
"""The stages that compare what sandboxes hold."""


def select(names: Sequence[str]) -> tuple[Stage, ...]:
    """The stages called `names` and all that they need, in their order; all stages where there are no names.

    Raises:
        UserError: There is no such stage.
    """
    known = {stage.name: stage for stage in STAGES}
    wanted: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in known:
            raise UserError(f"no stage {name!r}", fix=f"give some of {', '.join(known)}")
        if name not in wanted:
            wanted.add(name)
            todo.extend(known[name].needs)
    return tuple(stage for stage in STAGES if stage.name in wanted or not names)
