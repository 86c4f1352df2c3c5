"""Groups of episodes, and what TRL's `rollout_func` returns of them.

Rewards come from the tests alone. An episode that the machine spoilt is tried again; when that does not help its whole
group is dropped: TRL gives rollouts whose reward is None no advantage, so that nothing stands in for a reward.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from envs_forge.config import AgentSettings
from envs_forge.errors import InvariantError
from envs_forge.models.settings import Sampling
from envs_forge.rollout.policies.terminal.episode import Episode
from envs_forge.rollout.policy import Attempt, PolicyIdentity, TaskView
from envs_forge.rollout.runner import TrialOptions, run_trial
from envs_forge.rollout.trial import COUNTED, Trial, TrialStatus, recounted
from envs_forge.sandbox.engine import Sandbox
from envs_forge.sandbox.runtime import Prepared, Runtime
from envs_forge.train.advantages import GroupKind, kind_of
from envs_forge.train.grpo.asking import TrackedAsking
from envs_forge.train.grpo.sampling import Sampler
from envs_forge.train.grpo.settings import GrpoSettings
from envs_forge.train.grpo.tokens import ChatPieces, TokenTrack
from envs_forge.train.rewards.containers import RETRIED

TASK_KEY = "task"
"""Key of a prompt's first message that holds the content hash of its task."""
REWARD_KEY = "verifier_reward"
REWARDED = COUNTED | {TrialStatus.CONTEXT_EXCEEDED}
"""A full context is the agent's doing: what it left is judged by the tests like any other end."""


@dataclass(frozen=True)
class TaskInUse:
    """A task, its image built."""

    hash: str
    prepared: Prepared


@dataclass(frozen=True)
class EpisodeRecord:
    """One episode: the trial, and its tokens."""

    trial: Trial
    track: TokenTrack


@dataclass(frozen=True)
class GroupRecord:
    """The episodes of one group."""

    task: TaskInUse
    visit: int
    episodes: Sequence[EpisodeRecord]
    seconds: float

    @property
    def rewards(self) -> list[float | None]:
        """Of each episode; None where it has none."""
        return [episode.trial.reward for episode in self.episodes]

    @property
    def kind(self) -> GroupKind:
        """See `GroupKind`."""
        return kind_of(self.rewards)


class TrackedPolicy:
    """The terminal agent on one sampler, for one episode. Implements `Policy`."""

    def __init__(self, identity: PolicyIdentity, asking: TrackedAsking, agent: AgentSettings) -> None:
        self.identity = identity
        self._asking, self._agent = asking, agent

    def attempt(self, task: TaskView, sandbox: Sandbox, *, seed: int) -> Attempt:
        """See `Policy`. Commands come in fenced blocks: templates differ in how they show calls of tools."""
        return Episode(self._asking, self._agent, native=False, task=task, sandbox=sandbox, seed=seed).run()


class Episodes:
    """Runs the episodes of a training.

    Args:
        runtime: Where.
        tasks: By content hash.
        pieces: The chat template.
        settings: Of the training.
        identity: The policy, for the records.
        concurrency: Sandboxes at work at once.
        record: Called with each group, in order.
    """

    def __init__(
        self,
        runtime: Runtime,
        tasks: Mapping[str, TaskInUse],
        pieces: ChatPieces,
        settings: GrpoSettings,
        *,
        identity: PolicyIdentity,
        concurrency: int,
        record: Callable[[GroupRecord], None],
    ) -> None:
        self._runtime, self._tasks, self._pieces, self._settings = runtime, tasks, pieces, settings
        self._identity, self._record, self._concurrency = identity, record, concurrency
        self._agent = agent_settings(settings)
        self._options = TrialOptions(timeout_cap_s=settings.rollout_timeout_s)

    def run(self, prompts: Sequence[Sequence[Mapping[str, Any]]], sampler: Sampler, *, visit: int) -> dict[str, Any]:
        """Run one episode for each prompt.

        Args:
            prompts: Conversations, those of a group next to each other; the first message names the task.
            sampler: The model as it is now.
            visit: Number of the batch; seeds follow from it.

        Returns:
            `prompt_ids`, `completion_ids`, `logprobs`, `env_mask` (1 for what the model sampled) and the rewards, a
            list as long as `prompts` each.

        Raises:
            InvariantError: The prompts are not whole groups.
        """
        groups = [self._tasks[hash_] for hash_ in group_hashes(prompts, self._settings.group)]
        began = time.monotonic()
        with ThreadPoolExecutor(self._concurrency, thread_name_prefix="episode") as pool:
            waiting = [
                [
                    pool.submit(self._episode, task, sampler, visit, place * self._settings.group + i)
                    for i in range(self._settings.group)
                ]
                for place, task in enumerate(groups)
            ]
            records = []
            for task, futures in zip(groups, waiting, strict=True):
                episodes = tuple(future.result() for future in futures)
                records.append(GroupRecord(task, visit, episodes, time.monotonic() - began))
                self._record(records[-1])
        rows = [row for record in records for row in self._rows(record)]
        return {key: [row[key] for row in rows] for key in rows[0]}

    def _episode(self, task: TaskInUse, sampler: Sampler, visit: int, place: int) -> EpisodeRecord:
        for tries in range(self._settings.retries + 1):
            asking = TrackedAsking(sampler, self._pieces, _sampling(self._settings), self._settings.context_tokens)
            trial = run_trial(
                self._runtime,
                task.prepared,
                TrackedPolicy(self._identity, asking, self._agent),
                index=visit * 1_000_000 + place,
                retry=tries,
                bundle_hash=task.hash,
                options=self._options,
            )
            if trial.status not in RETRIED:
                break
        return EpisodeRecord(recounted(trial, REWARDED), asking.track)

    def _rows(self, group: GroupRecord) -> list[dict[str, Any]]:
        """What TRL gets of a group. A dropped one is a token an episode, with no reward and so without a gradient."""
        kind = group.kind
        empty = kind is GroupKind.DROPPED or (self._settings.skip_equal and kind is not GroupKind.MIXED)
        rewards = [None] * len(group.episodes) if kind is GroupKind.DROPPED else group.rewards
        return [
            self._row(episode.track, reward, empty=empty)
            for episode, reward in zip(group.episodes, rewards, strict=True)
        ]

    def _row(self, track: TokenTrack, reward: float | None, *, empty: bool) -> dict[str, Any]:
        end = self._pieces.tokenizer.eos_token_id
        blank = empty or not any(track.mask)
        return {
            "prompt_ids": track.prompt_ids or [end],
            "completion_ids": [end] if blank else track.completion_ids,
            "logprobs": [0.0] if blank else track.logprobs,
            "env_mask": [1] if blank else track.mask,
            REWARD_KEY: reward,
        }


def group_hashes(prompts: Sequence[Sequence[Mapping[str, Any]]], group: int) -> list[str]:
    """The task of each group of `group` neighbours.

    Raises:
        InvariantError: Neighbours differ, or a group is not whole.
    """
    hashes = [str(prompt[0][TASK_KEY]) for prompt in prompts]
    chunks = [hashes[at : at + group] for at in range(0, len(hashes), group)]
    if any(len(chunk) != group or len(set(chunk)) != 1 for chunk in chunks):
        raise InvariantError(f"the trainer asked for {len(hashes)} episodes that are not whole groups of {group}")
    return [chunk[0] for chunk in chunks]


def verifier_reward(*, verifier_reward: Sequence[float | None], **_: Any) -> list[float | None]:
    """The reward function that TRL calls: what the tests said."""
    return list(verifier_reward)


def agent_settings(settings: GrpoSettings) -> AgentSettings:
    """The terminal agent's settings of a training."""
    return AgentSettings(
        tools="fenced",
        turns=settings.turns,
        context_tokens=settings.context_tokens,
        command_timeout_s=settings.command_timeout_s,
        output_chars=settings.output_chars,
        sampling=_sampling(settings),
    )


def _sampling(settings: GrpoSettings) -> Sampling:
    return Sampling(temperature=settings.temperature, top_p=settings.top_p, max_tokens=settings.answer_tokens)
