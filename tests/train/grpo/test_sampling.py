"""Answers from the model itself, and from the server of TRL."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from envs_forge.errors import InfrastructureError
from envs_forge.train.grpo.sampling import LocalSampler, ServerSampler
from envs_forge.train.grpo.settings import GrpoSettings

SETTINGS = GrpoSettings(temperature=0.7, top_p=0.9)
PROMPT = [5, 6, 7, 8]


@pytest.fixture(scope="module")
def local(model: Path) -> LocalSampler:
    return LocalSampler(AutoModelForCausalLM.from_pretrained(model).eval(), [256], 258, SETTINGS)


def test_a_seed_gives_an_answer_whatever_came_before(local: LocalSampler) -> None:
    first = local.sample(PROMPT, max_tokens=12, seed=1)
    assert local.sample(PROMPT, max_tokens=12, seed=2) != first
    assert local.sample(PROMPT, max_tokens=12, seed=1) == first


def test_sampling_leaves_the_randomness_of_training_alone(local: LocalSampler) -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    local.sample(PROMPT, max_tokens=4, seed=1)
    assert torch.equal(torch.rand(1), expected)


def test_logprobs_are_the_model_s_under_the_temperature(local: LocalSampler, model: Path) -> None:
    sampled = local.sample(PROMPT, max_tokens=6, seed=4)
    whole = torch.tensor([PROMPT + sampled.ids])
    with torch.no_grad():
        logits = AutoModelForCausalLM.from_pretrained(model).eval()(whole).logits[0, len(PROMPT) - 1 : -1]
    expected = torch.log_softmax(logits / SETTINGS.temperature, -1)[range(len(sampled.ids)), sampled.ids]
    assert sampled.logprobs == pytest.approx(expected.tolist(), abs=1e-4)


def test_an_end_of_turn_ends_an_answer(model: Path) -> None:
    weights = AutoModelForCausalLM.from_pretrained(model).eval()
    everything = list(range(weights.config.vocab_size))
    answer = LocalSampler(weights, everything, 258, SETTINGS).sample(PROMPT, max_tokens=5, seed=1)
    assert len(answer.ids) == 1
    assert answer.ended


class FakeClient:
    """Answers as TRL's client of the vLLM server does, and keeps what it was asked."""

    def __init__(self, *logprobs: float | None) -> None:
        self.logprobs, self.asked = logprobs, {}

    def generate(self, **asked: Any) -> dict[str, Any]:
        self.asked = asked
        ids = [*range(10, 10 + len(self.logprobs) - 1), 256]
        return {"prompt_ids": asked["prompts"], "completion_ids": [ids], "logprobs": [[[p] for p in self.logprobs]]}


def test_the_server_is_asked_as_its_client_wants_it() -> None:
    from trl.generation.vllm_client import VLLMClient

    client = FakeClient(-0.1, -0.2)
    answer = ServerSampler(client, [256], SETTINGS).sample(PROMPT, max_tokens=9, seed=2**40 + 3)
    inspect.signature(VLLMClient.generate).bind(None, **client.asked)
    assert (answer.ids, answer.logprobs, answer.ended) == ([10, 256], [-0.1, -0.2], True)
    assert client.asked["generation_kwargs"] == {"seed": 3}


def test_a_log_probability_that_the_server_does_not_know_is_not_a_number() -> None:
    answer = ServerSampler(FakeClient(None, -0.2), [256], SETTINGS).sample(PROMPT, max_tokens=9, seed=1)
    assert math.isnan(answer.logprobs[0])


def test_a_server_that_fails_is_no_answer() -> None:
    class Broken:
        def generate(self, **_: Any) -> Any:
            raise ConnectionError("refused")

    with pytest.raises(InfrastructureError, match="vLLM server failed"):
        ServerSampler(Broken(), [256], SETTINGS).sample(PROMPT, max_tokens=9, seed=1)
