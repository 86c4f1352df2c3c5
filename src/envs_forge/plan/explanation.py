"""What there is to say about a plan, as plain data."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from envs_forge.plan.model import QuotaReport


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
    prices: Mapping[str, float] = {}
    """What the quotas pay for each of its skills, those that they pay for. Together with the score this is `value`."""
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


class Chosen(BaseModel):
    """A candidate that the plan chose, and how sure that choice is."""

    model_config = ConfigDict(frozen=True)

    seed_id: str
    action: str
    draws: int
    regret: float
    """What the action is expected to lose against the seed's best one, if its true rate were known."""
    mixed: float
    """Expected probability that a group of G rollouts on the child is not all equal."""


class LeftOut(BaseModel):
    """A seed that the plan does not use, with its best candidate where it has one."""

    model_config = ConfigDict(frozen=True)

    seed_id: str
    pass_rate: float
    action: str = ""
    frontier_score: float | None = None
    value: float | None = None
    """Its score with what the quotas pay for its skills."""
    why: str


class Explanation(BaseModel):
    """A plan at a glance.

    Attributes:
        counts: Chosen draws by action.
        histogram: Chosen draws by predicted pass rate, ten bars over [0, 1].
        seed_histogram: All seeds by measured pass rate, for comparison.
        quotas: As in the plan, with prices.
        next_unit: What one more draw would add, roughly; None where no further draw is possible.
        chosen: Every candidate of the plan, with its regret and its chance of a mixed group.
        mean_regret: Mean expected regret of the draws.
        mean_mixed: Mean expected probability of a mixed group.
        left_out: Seeds that the plan does not use, the nearest first.
    """

    model_config = ConfigDict(frozen=True)

    counts: Mapping[str, int]
    histogram: tuple[int, ...]
    seed_histogram: tuple[int, ...]
    quotas: tuple[QuotaReport, ...]
    next_unit: float | None
    chosen: tuple[Chosen, ...]
    mean_regret: float
    mean_mixed: float
    left_out: tuple[LeftOut, ...]
