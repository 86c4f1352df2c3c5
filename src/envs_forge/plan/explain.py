"""A plan that can be questioned, as plain data: the command line and the report only lay it out.

explanation = explain(plan, seeds, settings)
one = explain_seed(plan, seeds, settings, "s17")
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict

from envs_forge.errors import UserError
from envs_forge.plan.frontier import expected_mixed_probability, expected_regret, predict
from envs_forge.plan.inputs import Tables, tabulate
from envs_forge.plan.model import ACTIONS, Choice, Forbidden, Plan, QuotaReport, SeedInput
from envs_forge.plan.recipes import MASKS
from envs_forge.plan.settings import PlanSettings

BINS = 10
"""Bars of the histogram over [0, 1]; the last one includes 1."""

_CLOSE = 1e-9


class CandidateExplanation(BaseModel):
    """One of a seed's six candidates.

    `value` is the score with what the quotas pay for its skills; `regret` what choosing it is expected to lose against
    the seed's best action, given how little the rate was measured (the directions of `diversify` count as one); `mixed`
    the expected probability that a group of G rollouts on the child is not all equal.
    """

    model_config = ConfigDict(frozen=True)

    action: str
    eligible: bool
    reason: str = ""
    """Why it is not eligible."""
    predicted: float
    frontier_score: float
    value: float
    regret: float
    mixed: float
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    draws: int = 0
    """How often the plan chose it."""


class SeedExplanation(BaseModel):
    """Why a plan used a seed as it did: its candidates and one sentence."""

    model_config = ConfigDict(frozen=True)

    seed_id: str
    pass_rate: float
    k: float
    n: int
    candidates: tuple[CandidateExplanation, ...]
    why: str


class LeftOut(BaseModel):
    """A seed that the plan does not use, with its best candidate where it has one."""

    model_config = ConfigDict(frozen=True)

    seed_id: str
    pass_rate: float
    action: str = ""
    frontier_score: float | None = None
    why: str


class Explanation(BaseModel):
    """A plan at a glance.

    Attributes:
        counts: Chosen draws by action.
        histogram: Chosen draws by predicted pass rate, ten bars over [0, 1].
        seed_histogram: All seeds by measured pass rate, for comparison.
        quotas: As in the plan, with prices.
        next_unit: What one more draw would add, roughly.
        mean_regret: Mean expected regret of the new choices.
        mean_mixed: Mean expected probability of a mixed group.
        left_out: Seeds that the plan does not use.
    """

    model_config = ConfigDict(frozen=True)

    counts: Mapping[str, int]
    histogram: tuple[int, ...]
    seed_histogram: tuple[int, ...]
    quotas: tuple[QuotaReport, ...]
    next_unit: float
    mean_regret: float
    mean_mixed: float
    left_out: tuple[LeftOut, ...]


def explain(
    plan: Plan, seeds: Sequence[SeedInput], settings: PlanSettings, *, forbidden: Iterable[Forbidden] = ()
) -> Explanation:
    """Lay out a plan made by `make_plan` with the same arguments."""
    view = _View(plan, seeds, settings, tuple(forbidden))
    used = {choice.seed_id for choice in plan.choices}
    places = [view.place(choice) for choice in plan.choices]
    return Explanation(
        counts=Counter(str(choice.action) for choice in plan.choices),
        histogram=_bars(choice.predicted for choice in plan.choices),
        seed_histogram=_bars(view.tables.rates.tolist()),
        quotas=plan.quotas,
        next_unit=plan.size_price,
        mean_regret=float(np.mean([view.regret[place] for place in places])),
        mean_mixed=float(np.mean([view.mixed[place] for place in places])),
        left_out=tuple(view.left_out(row) for row, seed in enumerate(view.tables.seeds) if seed.id not in used),
    )


def explain_seed(
    plan: Plan,
    seeds: Sequence[SeedInput],
    settings: PlanSettings,
    seed_id: str,
    *,
    forbidden: Iterable[Forbidden] = (),
) -> SeedExplanation:
    """One seed's six candidates and why the plan did what it did with it.

    Raises:
        UserError: The pool has no such seed.
    """
    view = _View(plan, seeds, settings, tuple(forbidden))
    if seed_id not in view.row:
        raise UserError(f"there is no seed {seed_id} in the pool")
    row = view.row[seed_id]
    seed = view.tables.seeds[row]
    return SeedExplanation(
        seed_id=seed_id,
        pass_rate=seed.k / seed.n,
        k=seed.k,
        n=seed.n,
        candidates=tuple(view.candidate(row, column) for column in range(len(ACTIONS))),
        why=view.why(row),
    )


class _View:
    """A plan and everything that is needed to talk about it, by seed row and action column."""

    def __init__(
        self, plan: Plan, seeds: Sequence[SeedInput], settings: PlanSettings, forbidden: tuple[Forbidden, ...]
    ) -> None:
        self.plan, self.settings, self.forbidden = plan, settings, forbidden
        self.tables: Tables = tabulate(seeds, settings, forbidden=forbidden)
        self.row = {seed.id: index for index, seed in enumerate(self.tables.seeds)}
        k = np.array([seed.k for seed in self.tables.seeds])
        n = np.array([float(seed.n) for seed in self.tables.seeds])
        self.predicted = predict(k / n, settings.frontier)
        self.regret = expected_regret(k, n, settings.frontier, self.tables.allowed)
        self.mixed = expected_mixed_probability(k, n, settings.frontier, settings.group)
        self.prices = {quota.skill: quota.price for quota in plan.quotas}
        self.draws = Counter((choice.seed_id, str(choice.action)) for choice in plan.choices)

    def place(self, choice: Choice) -> tuple[int, int]:
        return self.row[choice.seed_id], ACTIONS.index(choice.action)

    def value(self, row: int, column: int) -> float:
        """Score and what the quotas pay for the candidate's skills."""
        skills = self.tables.seeds[row].skills.get(str(ACTIONS[column]))
        value = float(self.tables.scores[row, column])
        if skills is not None:
            value += sum(self.prices.get(skill, 0.0) for skill in set(skills.required))
            spare = set(skills.optional) - set(skills.required)
            value += sum(max(0.0, self.prices.get(skill, 0.0) - self.settings.epsilon) for skill in spare)
        return value

    def candidate(self, row: int, column: int) -> CandidateExplanation:
        seed, name = self.tables.seeds[row], str(ACTIONS[column])
        skills = seed.skills.get(name)
        eligible = bool(self.tables.allowed[row, column])
        return CandidateExplanation(
            action=name,
            eligible=eligible,
            reason="" if eligible else self._reason(row, column),
            predicted=float(self.predicted[row, column]),
            frontier_score=float(self.tables.scores[row, column]),
            value=self.value(row, column),
            regret=float(self.regret[row, column]),
            mixed=float(self.mixed[row, column]),
            required=skills.required if skills else (),
            optional=skills.optional if skills else (),
            draws=self.draws[(seed.id, name)],
        )

    def _reason(self, row: int, column: int) -> str:
        seed, action = self.tables.seeds[row], ACTIONS[column]
        if str(action) in seed.ineligible:
            return seed.ineligible[str(action)]
        if action not in MASKS[self.settings.recipe]:
            return f"not an action of {self.settings.recipe.value}"
        if any(entry.seed_id == seed.id and entry.action in (None, action) for entry in self.forbidden):
            return "forbidden"
        return "no candidate"

    def best(self, row: int) -> int | None:
        """The allowed action of the highest value, the first of equals."""
        columns: list[int] = np.flatnonzero(self.tables.allowed[row]).tolist()
        return max(columns, key=lambda column: (round(self.value(row, column), 9), -column), default=None)

    def left_out(self, row: int) -> LeftOut:
        seed, best = self.tables.seeds[row], self.best(row)
        return LeftOut(
            seed_id=seed.id,
            pass_rate=seed.k / seed.n,
            action="" if best is None else str(ACTIONS[best]),
            frontier_score=None if best is None else float(self.tables.scores[row, best]),
            why=self.why(row),
        )

    def why(self, row: int) -> str:
        """One sentence about the seed's place in the plan or out of it."""
        chosen = [
            column for column in range(len(ACTIONS)) if self.draws[(self.tables.seeds[row].id, str(ACTIONS[column]))]
        ]
        best = self.best(row)
        if chosen:
            return self._why_chosen(row, chosen[0], best)
        if best is None:
            reasons = {self._reason(row, column) for column in range(len(ACTIONS)) if ACTIONS[column] in self._mask()}
            return f"no eligible action: {'; '.join(sorted(reasons))}"
        if self.plan.arm == "blind":
            return "the random order did not come to it"
        value, last = self.value(row, best), self.plan.size_price
        if value < last - _CLOSE:
            return f"its best candidate {ACTIONS[best]} is worth {value:.4f}, the last place goes for {last:.4f}"
        return f"its best candidate {ACTIONS[best]} is worth {value:.4f}, no more than the last place"

    def _mask(self) -> tuple[object, ...]:
        return MASKS[self.settings.recipe]

    def _why_chosen(self, row: int, chosen: int, best: int | None) -> str:
        score = float(self.tables.scores[row, chosen])
        if self.plan.arm == "blind":
            return "the random order came to it; the measured rate played no part"
        allowed = np.flatnonzero(self.tables.allowed[row])
        highest = float(self.tables.scores[row, allowed].max(initial=-np.inf))
        if score < highest - _CLOSE:
            paid = self.value(row, chosen) - score
            return (
                f"scores {highest - score:.4f} less than its best action, but its skills pay {paid:.4f} towards quotas"
            )
        ties = [c for c in allowed if c != chosen and abs(float(self.tables.scores[row, c]) - score) <= _CLOSE]
        if ties:
            names = ", ".join(str(ACTIONS[c]) for c in ties)
            return f"its best action, level with {names}; settled by quotas, skill coverage, then content hash"
        return "its best action"


def _bars(rates: Iterable[float]) -> tuple[int, ...]:
    counts, _ = np.histogram(np.array(list(rates)), bins=BINS, range=(0.0, 1.0))
    return tuple(int(count) for count in counts)
