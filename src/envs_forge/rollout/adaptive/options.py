"""How adaptive rollouts are spent."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, PositiveInt

from envs_forge.plan.settings import FrontierConfig

_SMALLEST_BATCH = 4


class AdaptiveOptions(BaseModel):
    """Settings of one measurement.

    Attributes:
        start: Rollouts of every bundle before anything is decided.
        cap: Most rollouts of one bundle.
        budget: Rollouts of all bundles together, the first ones among them.
        delta: A bundle gets no more when the expected regret of its best action is below this (in units of F).
        size: N, how many draws the plan will choose.
        capacity: Most draws of one bundle; None as the planner has it: 1, or as many as N needs.
        batch: Rollouts between two decisions; None is a tenth of the bundles, at least 4: nobody should wait for one.
        frontier: The model of what an action does to a pass rate.
    """

    model_config = ConfigDict(frozen=True)

    start: PositiveInt = 3
    cap: PositiveInt = 16
    budget: PositiveInt
    delta: NonNegativeFloat = 0.005
    size: PositiveInt = 100
    capacity: PositiveInt | None = None
    batch: PositiveInt | None = None
    frontier: FrontierConfig = FrontierConfig()

    def batch_of(self, bundles: int) -> int:
        """Rollouts between two decisions."""
        return self.batch or max(_SMALLEST_BATCH, -(-bundles // 10))

    def chosen_of(self, bundles: int) -> int:
        """How many bundles a plan of N draws from."""
        capacity = self.capacity or max(1, -(-self.size // max(1, bundles)))
        return -(-self.size // capacity)
