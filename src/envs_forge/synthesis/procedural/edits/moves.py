"""Elementary moves on a chain: put a knob or an operation in, take one out, put another in its place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from envs_forge.plan.skills import NodeType, load_graph
from envs_forge.synthesis.procedural.chain import fault_of
from envs_forge.synthesis.procedural.composition import Use
from envs_forge.synthesis.procedural.operation import Operation
from envs_forge.synthesis.procedural.operations import operations

Uses = tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A chain after a change.

    Attributes:
        uses: The changed chain.
        done: What was done, one phrase a move.
        level: Edits of a lower level are preferred.
        without: Places in the parent's chain of the steps that were taken out.
    """

    uses: Uses
    done: tuple[str, ...]
    level: int = 0
    without: tuple[int, ...] = ()

    def after(self, earlier: Edit) -> Edit:
        """The same chain, reached by way of an earlier edit."""
        return replace(self, done=(*earlier.done, *self.done))


def sound(edits: Iterable[Edit], parent: Uses) -> list[Edit]:
    """Edits that can be made, differ from the parent and from each other, in their order."""
    found: dict[Uses, Edit] = {}
    for edit in edits:
        if edit.uses != parent and edit.uses not in found and not fault_of(edit.uses):
            found[edit.uses] = edit
    return list(found.values())


def put(uses: Uses, at: int, *new: Use) -> Uses:
    """The chain with the operation at `at` replaced by others, or by none."""
    return (*uses[:at], *new, *uses[at + 1 :])


def with_knob(use: Use, knob: str) -> Use:
    """The operation with one more knob."""
    return Use(operation=use.operation, knobs=tuple(sorted({*use.knobs, knob})))


def without_knob(use: Use, knob: str) -> Use:
    """The operation with one knob less."""
    return Use(operation=use.operation, knobs=tuple(name for name in use.knobs if name != knob))


def added_knobs(uses: Uses) -> Iterator[Edit]:
    """Every chain with one more knob, valid or not."""
    for at, use in enumerate(uses):
        for knob in operations()[use.operation].knobs:
            if knob.id not in use.knobs:
                yield Edit(put(uses, at, with_knob(use, knob.id)), (f"{knob.id} added to {use.operation}",))


def added_operations(uses: Uses, which: Iterable[Operation]) -> Iterator[Edit]:
    """Every chain with one of these operations put in somewhere, valid or not."""
    for operation in which:
        for at in range(len(uses) + 1):
            yield Edit((*uses[:at], Use(operation=operation.id), *uses[at:]), (f"{operation.id} put in",))


def operation_nodes(nodes: Iterable[str]) -> frozenset[str]:
    """Those of type operation."""
    return frozenset(node for node in nodes if node.startswith("operation/"))


def beside(nodes: Collection[str]) -> frozenset[str]:
    """Operation nodes adjacent to the operations and domains among `nodes`, and not among them."""
    own = [node for node in nodes if node.startswith(("operation/", "domain/"))]
    return load_graph().neighbours(own, NodeType.OPERATION)
