"""Groups of episodes in real sandboxes, sampled from a script."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.errors import InfrastructureError, InvariantError
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.sandbox.runtime import Prepared, Runtime
from envs_forge.train.advantages import GroupKind
from envs_forge.train.grpo.dataset import rows
from envs_forge.train.grpo.episodes import REWARD_KEY, Episodes, GroupRecord, TaskInUse, group_hashes
from envs_forge.train.grpo.sampling import Sampled
from envs_forge.train.grpo.settings import GrpoSettings
from envs_forge.train.grpo.tokens import ChatPieces

from .samples import chance, silent
from .tiny import tokenizer

pytestmark = pytest.mark.engine
TOKENS = tokenizer()
SOLVES = ("```bash\ntouch /app/solved\n```", "DONE")


class Script:
    """Says the same in each episode, a line a turn."""

    def __init__(self, *answers: str) -> None:
        self._answers = answers

    def sample(self, ids: Sequence[int], *, max_tokens: int, seed: int) -> Sampled:
        said = TOKENS.decode(ids).count("<|im_start|>assistant")
        new = [*TOKENS.encode(self._answers[said - 1], add_special_tokens=False), TOKENS.eos_token_id]
        return Sampled(new, [-1.0] * len(new), ended=True)


class Broken:
    """A server that is down."""

    def sample(self, ids: Sequence[int], *, max_tokens: int, seed: int) -> Sampled:
        raise InfrastructureError("no server", code="endpoint-vllm")


def in_use(sandboxes: Runtime, bundle: Bundle) -> TaskInUse:
    prepared = sandboxes.prepare(bundle)
    assert isinstance(prepared, Prepared)
    return TaskInUse(content_hash(bundle), prepared)


def episodes(
    sandboxes: Runtime, task: TaskInUse, settings: GrpoSettings, kept: list[GroupRecord]
) -> tuple[Episodes, list[object]]:
    identity = PolicyIdentity(kind="trained", name="script", version="1")
    runner = Episodes(
        sandboxes,
        {task.hash: task},
        ChatPieces(TOKENS),
        settings,
        identity=identity,
        concurrency=2,
        record=kept.append,
    )
    return runner, [row["prompt"] for row in rows([task], settings) for _ in range(settings.group)]


def test_what_is_solved_is_rewarded_by_the_tests(sandboxes: Runtime) -> None:
    settings, kept = GrpoSettings(group=2, turns=3), []
    runner, prompts = episodes(sandboxes, in_use(sandboxes, chance()), settings, kept)
    made = runner.run(prompts, Script(*SOLVES), visit=0)
    assert made[REWARD_KEY] == [1.0, 1.0]
    for ids, mask, logprobs in zip(made["completion_ids"], made["env_mask"], made["logprobs"], strict=True):
        assert len(ids) == len(mask) == len(logprobs)
        said = TOKENS.decode([id_ for id_, own in zip(ids, mask, strict=True) if own])
        assert said == "".join(f"{answer}<|im_end|>" for answer in SOLVES)
        shown = TOKENS.decode([id_ for id_, own in zip(ids, mask, strict=True) if not own])
        assert "exit code: 0" in shown.lower() or "exit code 0" in shown.lower()
    assert [group.kind for group in kept] == [GroupKind.ALL_PASSED]


def test_a_group_without_a_verdict_is_dropped_and_never_zero(sandboxes: Runtime) -> None:
    settings, kept = GrpoSettings(group=2, turns=3, retries=1), []
    runner, prompts = episodes(sandboxes, in_use(sandboxes, silent()), settings, kept)
    made = runner.run(prompts, Script("DONE", "DONE", "DONE"), visit=0)
    assert made[REWARD_KEY] == [None, None]
    assert [len(ids) for ids in made["completion_ids"]] == [1, 1]
    assert kept[0].kind is GroupKind.DROPPED
    assert [episode.trial.retry for episode in kept[0].episodes] == [1, 1]


def test_a_server_that_is_down_drops_the_group(sandboxes: Runtime) -> None:
    settings, kept = GrpoSettings(group=2, retries=0), []
    runner, prompts = episodes(sandboxes, in_use(sandboxes, chance()), settings, kept)
    assert runner.run(prompts, Broken(), visit=0)[REWARD_KEY] == [None, None]
    assert {episode.trial.status.value for episode in kept[0].episodes} == {"endpoint-error"}


def test_equal_groups_can_be_left_out_of_the_passes(sandboxes: Runtime) -> None:
    settings, kept = GrpoSettings(group=2, turns=3, skip_equal=True), []
    runner, prompts = episodes(sandboxes, in_use(sandboxes, chance()), settings, kept)
    made = runner.run(prompts, Script(*SOLVES), visit=0)
    assert made[REWARD_KEY] == [1.0, 1.0]
    assert [len(ids) for ids in made["completion_ids"]] == [1, 1]


def test_a_full_context_is_judged_by_what_was_left(sandboxes: Runtime) -> None:
    task = in_use(sandboxes, chance())
    opening = len(ChatPieces(TOKENS).opening(rows([task], GrpoSettings())[0]["prompt"]))
    settings, kept = GrpoSettings(group=2, context_tokens=opening + 100, answer_tokens=80), []
    runner, prompts = episodes(sandboxes, task, settings, kept)
    made = runner.run(prompts, Script(SOLVES[0], "DONE"), visit=0)
    assert made[REWARD_KEY] == [1.0, 1.0]
    assert {episode.trial.status.value for episode in kept[0].episodes} == {"context-exceeded"}


def test_halves_of_groups_are_an_error_of_ours() -> None:
    with pytest.raises(InvariantError, match="whole groups"):
        group_hashes([[{"task": "a"}], [{"task": "b"}]], 2)
