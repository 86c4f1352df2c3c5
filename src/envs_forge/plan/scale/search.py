"""The search in integers: a few candidates are opened, then more, until all that can matter were open.

A candidate whose move costs more than the gap between the bound and a known plan can be in no better plan. So: decide
among a few candidates with the cheapest moves, take the gap that is left, open more of those within it, decide again.
When all within the gap were open, the integer program's own bound holds for the whole problem. The start is small
because where very many candidates tie a few of them often make a plan that needs no further proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from envs_forge.plan.check import closed_form, evaluate
from envs_forge.plan.exact import compact
from envs_forge.plan.highs import solve
from envs_forge.plan.lagrange import View
from envs_forge.plan.problem import Floats, Ints, Problem
from envs_forge.plan.scale.core import Core, Reference, cheapest, moves, open_core

FIRST = 300
"""Candidates opened first, beside those that the linear program left undecided."""

GOOD_NODES = 200
"""Most nodes of a step that only has to find a good plan."""

MOST = 40_000
"""Most candidates ever opened."""

GROWTH = 4
"""By how much the open part grows while plans get better."""

STALLED = 4_000
"""From so many open candidates on, a search that finds no better plan than the one before is the last."""

PROOF_NODES = 4_000
"""Most nodes of a search that has to prove. Fewer where many candidates are open, see `_nodes`."""

SLOP = 1e-9
"""By how much a comparison of values errs on the safe side."""


@dataclass(frozen=True)
class Plan:
    """A plan of groups, its value, and how many candidates were open when it was found."""

    chosen: Ints
    objective: float
    opened: int = 0


@dataclass
class Search:
    """Where a search stands; `step` takes it further.

    Attributes:
        problem: Grouped seeds, quotas clipped.
        view: The problem at good prices.
        reference: The linear program's solution.
        tolerance: Absolute gap that is good enough.
        best: The best plan found in this problem.
        known: Value of a plan that is known from elsewhere: only better ones are looked for.
        first: Candidates opened first, `FIRST` where it is None.
        good_nodes: Most nodes of a step that only has to find a good plan, `GOOD_NODES` where it is None.
        bound: No plan of this problem that is better than `known` is worth more; `known` itself when there is none.
        done: The gap is closed, or further steps would not help.
        nodes: Nodes of the search tree so far.
    """

    problem: Problem
    view: View
    reference: Reference
    tolerance: float
    best: Plan | None = None
    known: float = -np.inf
    first: int | None = None
    good_nodes: int | None = None
    bound: float = field(init=False)
    done: bool = field(init=False, default=False)
    nodes: int = field(init=False, default=0)
    cost: Floats = field(init=False, repr=False)
    _ranked: Floats = field(init=False, repr=False)
    _count: int = field(init=False)
    _proving: bool = field(init=False)

    def __post_init__(self) -> None:
        self.bound = self.view.bound
        self.cost = moves(self.problem, self.view, self.reference)
        self._ranked = _ranked(self.cost)
        self._count = min(FIRST if self.first is None else self.first, self._ranked.size)
        self._proving = self._count >= self.needed
        self.done = self.gap <= self.tolerance

    @property
    def value(self) -> float:
        """What a plan must exceed to be of interest."""
        return self.known if self.best is None else max(self.known, self.best.objective)

    @property
    def gap(self) -> float:
        """How much better than what is known another plan could be at most."""
        return self.bound - self.value

    @property
    def needed(self) -> int:
        """Candidates that could be in a better plan."""
        return int(np.searchsorted(self._ranked, self.view.bound - self.value + SLOP, side="right"))

    def step(self) -> None:
        """Open some candidates and decide among them; then see how many are needed next."""
        core = open_core(self.problem, self.reference, cheapest(self.cost, self._count))
        before = self.best
        good = GOOD_NODES if self.good_nodes is None else self.good_nodes
        proven = self._decide(core, _nodes(core.candidates.size) if self._proving else good)
        needed = self.needed
        covered = self._count >= needed
        if covered and (self.best is not None or np.isfinite(self.known)):
            self.bound = min(self.bound, max(self.value, proven))
        stalled = self.best is not None and self.best is before and self._count >= STALLED
        self.done = (
            self.gap <= self.tolerance
            or (covered and self._proving)
            or self._count >= MOST
            or stalled
            or (self.best is None and covered)
        )
        # When little more is needed, take the step to the proof at once.
        self._count = min(needed if needed <= 2 * GROWTH * self._count else GROWTH * self._count, MOST)
        self._proving = self._count >= needed

    def _decide(self, core: Core, nodes: int) -> float:
        """Take the best plan in a core if it is better; the result is what no plan in that core can exceed."""
        program = compact(self.problem, core.candidates, fixed=core.fixed)
        outcome = solve(
            program.program,
            absolute_gap=self.tolerance / 2,
            max_nodes=nodes,
            start=None if self.best is None else program.start(self.problem, self.best.chosen),
            cutoff=self.known - program.fixed_value if self.best is None and np.isfinite(self.known) else None,
            lean=np.isfinite(self.value),
        )
        self.nodes += outcome.nodes
        if not outcome.feasible:
            return -np.inf if outcome.optimal else np.inf
        chosen = program.draws(outcome)
        value = worth(self.problem, chosen)
        if value is not None and value > self.value:
            self.best = Plan(chosen, value, core.candidates.size)
        return outcome.bound + program.fixed_value


def _ranked(cost: Floats) -> Floats:
    """The cheapest moves in ascending order, one more than are ever opened."""
    flat = cost.ravel()
    if flat.size > MOST + 1:
        flat = np.partition(flat, MOST)[: MOST + 1]
    return np.sort(flat[np.isfinite(flat)])


def _nodes(candidates: int) -> int:
    """A node costs about the square of what is open; a plan must not take minutes to prove its last per mille."""
    return int(min(PROOF_NODES, max(200, 2e9 / max(1, candidates) ** 2)))


def worth(problem: Problem, chosen: Ints) -> float | None:
    """Value of a choice, None where a quota is missed by more than its limit."""
    _, short = closed_form(problem, chosen)
    return None if np.any(short > problem.limits + SLOP) else evaluate(problem, chosen)
