"""What a user may set about a GRPO training."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class GrpoSettings(BaseModel):
    """How a language model is trained. Group size, sampling and rate are those of the published method."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    steps: int = Field(default=50, ge=1)
    """Optimiser steps."""
    group: int = Field(default=8, ge=2)
    """Rollouts of one task that are compared with each other."""
    batch: int = Field(default=1, ge=1)
    """Groups in a step, for each process."""
    micro_batch: int = Field(default=1, ge=1)
    """Episodes in one forward and backward pass; divides group × batch."""
    rate: float = Field(default=1e-6, gt=0, allow_inf_nan=False)
    """Learning rate, constant."""
    temperature: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """Of sampling."""
    top_p: float = Field(default=0.9, gt=0, le=1, allow_inf_nan=False)
    """Of sampling."""
    beta: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Weight of the KL term against the model as it was."""
    turns: int = Field(default=20, ge=1)
    """Answers of the model in one episode."""
    answer_tokens: int = Field(default=1024, ge=1)
    """Most tokens of one answer."""
    context_tokens: int = Field(default=16384, ge=64)
    """Most tokens of one episode, the prompt among them."""
    output_chars: int = Field(default=4000, ge=100)
    """Characters of one command's output that the model is shown."""
    command_timeout_s: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """Seconds of one command."""
    rollout_timeout_s: float = Field(default=900.0, gt=0, allow_inf_nan=False)
    """Seconds of one episode, if the task does not give fewer."""
    retries: int = Field(default=2, ge=0)
    """Further tries at an episode that the machine spoilt; then its group is dropped."""
    skip_equal: bool = False
    """Whether groups with equal rewards skip the passes through the model. They have no gradient either way."""
    lora_rank: int | None = Field(default=None, ge=1)
    """Rank of LoRA adapters on all linear layers; None trains all weights."""
    checkpoint_every: int = Field(default=5, ge=1)
    """Steps between checkpoints."""
    seed: int = 0
    """Number that all randomness starts from."""
    vllm_url: str | None = None
    """Address of a server started with `trl vllm-serve`; None samples with the trained model itself."""

    @property
    def accumulation(self) -> int:
        """Passes in one optimiser step.

        Raises:
            ValueError: `micro_batch` does not divide the episodes of a step.
        """
        episodes = self.group * self.batch
        if episodes % self.micro_batch:
            raise ValueError(f"{self.micro_batch} episodes a pass do not divide the {episodes} of a step")
        return episodes // self.micro_batch
