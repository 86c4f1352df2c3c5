"""How a measurement is run, as data."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt, PositiveInt

from envs_forge.rollout.adaptive.options import AdaptiveOptions
from envs_forge.rollout.runner import TrialOptions


class MeasureOptions(BaseModel):
    """How a measurement is run."""

    model_config = ConfigDict(frozen=True)

    rollouts: PositiveInt = 4
    """Rollouts of each bundle."""
    adaptive: AdaptiveOptions | None = None
    """Spend rollouts where they can change the plan; then `rollouts` has no say."""
    concurrency: PositiveInt = 2
    """Trials at once."""
    cores: PositiveInt | None = None
    """Trials at once that are starting or being tested; None is all."""
    memory_mb: PositiveInt | None = None
    """Memory limits of all sandboxes at once together; None is no limit."""
    builders: PositiveInt = 1
    """Images built at once, beside the trials."""
    retries: NonNegativeInt = 2
    """Further tries at what the machine or an endpoint spoilt."""
    pause_s: NonNegativeFloat = 1.0
    """Seconds before the first of them."""
    pause_factor: float = 4.0
    """Each further pause is this much longer."""
    trial: TrialOptions = TrialOptions()

    def pause(self, tries: int) -> float:
        """Seconds to wait after `tries` spoilt tries."""
        return self.pause_s * self.pause_factor ** (tries - 1)
