"""Where the tokens of an answer come from: the trained model itself, or the vLLM server that TRL keeps in step."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from envs_forge.errors import InfrastructureError
from envs_forge.train.grpo.settings import GrpoSettings

_SEEDS = 2**31


@dataclass(frozen=True, slots=True)
class Sampled:
    """One answer. `logprobs` are those of the sampled ids under the temperature, before top-p cuts the tail off."""

    ids: list[int]
    logprobs: list[float]
    ended: bool
    """Whether the last id is an end of turn; else the limit cut the answer."""


class Sampler(Protocol):
    """Samples answers. Called from several threads at once."""

    def sample(self, ids: Sequence[int], *, max_tokens: int, seed: int) -> Sampled:
        """Continue `ids`.

        Raises:
            InfrastructureError: The server failed.
        """
        ...


def sampler_of(trainer: Any, settings: GrpoSettings) -> AbstractContextManager[Sampler]:
    """The sampler of a trainer as it is now, for the length of one batch of episodes."""
    return _server(trainer, settings) if settings.vllm_url is not None else _local(trainer, settings)


class LocalSampler:
    """Samples with a model of transformers, one answer at a time.

    Args:
        model: The model, ready to generate.
        ends: Ids that end a turn.
        pad: Id for padding.
        settings: Temperature and top-p.
    """

    def __init__(self, model: Any, ends: Sequence[int], pad: int, settings: GrpoSettings) -> None:
        self._model, self._ends, self._pad, self._settings = model, list(ends), pad, settings
        self._lock = threading.Lock()

    def sample(self, ids: Sequence[int], *, max_tokens: int, seed: int) -> Sampled:
        """See `Sampler`."""
        import torch

        given = torch.tensor([list(ids)], device=self._model.device)
        # The seed is set inside, so that which thread came first does not matter, and training's randomness stays.
        with self._lock, torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(seed % _SEEDS)
            made = self._model.generate(
                input_ids=given,
                attention_mask=torch.ones_like(given),
                max_new_tokens=max_tokens,
                do_sample=True,
                temperature=self._settings.temperature,
                top_p=self._settings.top_p,
                top_k=0,
                eos_token_id=self._ends,
                pad_token_id=self._pad,
                return_dict_in_generate=True,
                output_logits=True,
            )
        new = made.sequences[0, len(ids) :].tolist()
        logits = torch.stack(made.logits)[:, 0].float() / self._settings.temperature
        logprobs = torch.log_softmax(logits, dim=-1)[range(len(new)), new].tolist()
        return Sampled(new, logprobs, ended=bool(new) and new[-1] in self._ends)


class ServerSampler:
    """Samples from the vLLM server of TRL.

    Args:
        client: TRL's `VLLMClient`, or what has its `generate`.
        ends: Ids that end a turn.
        settings: Temperature and top-p.
    """

    def __init__(self, client: Any, ends: Sequence[int], settings: GrpoSettings) -> None:
        self._client, self._ends, self._settings = client, frozenset(ends), settings

    def sample(self, ids: Sequence[int], *, max_tokens: int, seed: int) -> Sampled:
        """See `Sampler`."""
        try:
            made = self._client.generate(
                prompts=[list(ids)],
                n=1,
                temperature=self._settings.temperature,
                top_p=self._settings.top_p,
                max_tokens=max_tokens,
                logprobs=0,
                generation_kwargs={"seed": seed % _SEEDS},
            )
            new = [int(token) for token in made["completion_ids"][0]]
            logprobs = [float("nan") if place[0] is None else float(place[0]) for place in made["logprobs"][0]]
        except Exception as error:  # whatever its HTTP client raises, it is not the policy's doing
            raise InfrastructureError(f"the vLLM server failed: {error}", code="endpoint-vllm") from error
        return Sampled(new, logprobs, ended=bool(new) and new[-1] in self._ends)


@contextmanager
def _local(trainer: Any, settings: GrpoSettings) -> Iterator[Sampler]:
    from trl.models import unwrap_model_for_generation

    with unwrap_model_for_generation(
        trainer.model_wrapped,
        trainer.accelerator,
        gradient_checkpointing_kwargs=trainer.args.gradient_checkpointing_kwargs,
    ) as model:
        training = model.training
        model.eval()
        try:
            yield LocalSampler(model, end_ids(trainer), trainer.processing_class.pad_token_id, settings)
        finally:
            model.train(training)


@contextmanager
def _server(trainer: Any, settings: GrpoSettings) -> Iterator[Sampler]:
    yield ServerSampler(trainer.vllm_generation.vllm_client, end_ids(trainer), settings)


def end_ids(trainer: Any) -> list[int]:
    """Ids that end a turn: the tokenizer's, and those of the model's generation config."""
    configured = getattr(getattr(trainer.model, "generation_config", None), "eos_token_id", None)
    more = configured if isinstance(configured, list) else [configured]
    return sorted({trainer.processing_class.eos_token_id, *more} - {None})
