"""A plan that can be questioned, as plain data: the command line and the report only lay it out.

explanation = explain(plan, seeds, settings)
one = explain_seed(plan, seeds, settings, "s17")
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from envs_forge.errors import UserError
from envs_forge.plan.explanation import CandidateExplanation, Chosen, Explanation, LeftOut, SeedExplanation
from envs_forge.plan.frontier import expected_mixed_probability, expected_regret, predict
from envs_forge.plan.inputs import Tables, tabulate
from envs_forge.plan.model import ACTIONS, CandidateSkills, Choice, Forbidden, Plan, SeedInput
from envs_forge.plan.problem import Floats
from envs_forge.plan.recipes import MASKS
from envs_forge.plan.settings import PlanSettings

BINS = 10
"""Bars of the histogram over [0, 1]; the last one includes 1."""

_CLOSE = 1e-9


def explain(
    plan: Plan, seeds: Sequence[SeedInput], settings: PlanSettings, *, forbidden: Iterable[Forbidden] = ()
) -> Explanation:
    """Lay out a plan made by `make_plan` with the same arguments."""
    view = _View(plan, seeds, settings, tuple(forbidden))
    used = {choice.seed_id for choice in plan.choices}
    places = [view.place(choice) for choice in plan.choices]
    rows = [row for row, seed in enumerate(view.tables.seeds) if seed.id not in used]
    rows.sort(key=lambda row: -round(view.best_value(row), 9))
    return Explanation(
        counts=Counter(str(choice.action) for choice in plan.choices),
        histogram=_bars(choice.predicted for choice in plan.choices),
        seed_histogram=_bars(view.tables.rates.tolist()),
        quotas=plan.quotas,
        next_unit=plan.next_price,
        chosen=tuple(view.chosen(*place, draws) for place, draws in Counter(places).items()),
        mean_regret=float(np.mean([view.regret[place] for place in places])),
        mean_mixed=float(np.mean([view.mixed[place] for place in places])),
        left_out=tuple(view.left_out(row) for row in rows),
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
        near = _near(seed_id, sorted(view.row))
        fix = f"did you mean {' or '.join(near)}?" if near else f"name one of its {len(view.row)} seeds"
        raise UserError(f"there is no seed {seed_id} in the pool", fix=fix)
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


def plan_document(plan: Plan, overview: Explanation, one: SeedExplanation | None = None) -> dict[str, Any]:
    """All of it as JSON: the plan's own keys, `overview` and, where a seed was asked for, `explanation`."""
    document = {**plan.model_dump(mode="json"), "overview": overview.model_dump(mode="json")}
    return document if one is None else {**document, "explanation": one.model_dump(mode="json")}


def _near(name: str, known: Sequence[str]) -> list[str]:
    """At most three names: those that the name is a part of, then those that are written alike."""
    parts = [one for one in known if name and name.casefold() in one.casefold()]
    return list(dict.fromkeys([*parts, *difflib.get_close_matches(name, known, 3, 0.6)]))[:3]


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
        self.values = self._values()
        self.draws = Counter((choice.seed_id, str(choice.action)) for choice in plan.choices)

    def place(self, choice: Choice) -> tuple[int, int]:
        return self.row[choice.seed_id], ACTIONS.index(choice.action)

    def value(self, row: int, column: int) -> float:
        """Score and what the quotas pay for the candidate's skills."""
        return float(self.values[row, column])

    def _values(self) -> Floats:
        """(S, A) all of them."""
        tables, epsilon = self.tables, self.settings.epsilon
        # The last entry is for padding, which points there.
        price = np.array([*(self.prices.get(skill, 0.0) for skill in tables.skills), 0.0])
        paid = price[tables.required].sum(axis=1) + np.maximum(price - epsilon, 0.0)[tables.optional].sum(axis=1)
        return np.asarray(tables.scores + paid.reshape(tables.scores.shape))

    def chosen(self, row: int, column: int, draws: int) -> Chosen:
        return Chosen(
            seed_id=self.tables.seeds[row].id,
            action=str(ACTIONS[column]),
            draws=draws,
            regret=float(self.regret[row, column]),
            mixed=float(self.mixed[row, column]),
        )

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
            prices={} if skills is None else self._paid(skills),
            draws=self.draws[(seed.id, name)],
        )

    def _paid(self, skills: CandidateSkills) -> dict[str, float]:
        paid = {skill: self.prices.get(skill, 0.0) - self.settings.epsilon for skill in skills.optional}
        paid |= {skill: self.prices.get(skill, 0.0) for skill in skills.required}
        return {skill: price for skill, price in sorted(paid.items()) if price > 0}

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
        if not self.tables.allowed[row].any():
            return None
        values = np.where(self.tables.allowed[row], np.round(self.values[row], 9), -np.inf)
        return int(values.argmax())

    def best_value(self, row: int) -> float:
        """Value of that action, −inf where there is none."""
        best = self.best(row)
        return -np.inf if best is None else self.value(row, best)

    def left_out(self, row: int) -> LeftOut:
        seed, best = self.tables.seeds[row], self.best(row)
        return LeftOut(
            seed_id=seed.id,
            pass_rate=seed.k / seed.n,
            action="" if best is None else str(ACTIONS[best]),
            frontier_score=None if best is None else float(self.tables.scores[row, best]),
            value=None if best is None else self.value(row, best),
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
