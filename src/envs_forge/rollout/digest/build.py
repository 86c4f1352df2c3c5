"""Trials → `FailureDigest`: a pure function of what is recorded."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from envs_forge.rollout.digest.clean import one_line
from envs_forge.rollout.digest.ending import ERROR_CHARACTERS, ending
from envs_forge.rollout.digest.model import FailedTest, FailureDigest, FailureMode
from envs_forge.rollout.digest.tests import failed_tests
from envs_forge.rollout.trial import Trial, TrialStatus

MOST_TESTS = 12
MOST_MODES = 5
MOST_TESTS_OF_A_MODE = 6

_OWN_DOING = frozenset(
    {
        TrialStatus.FAILED,
        TrialStatus.PARTIAL,
        TrialStatus.AGENT_TIMEOUT,
        TrialStatus.AGENT_ERROR,
        TrialStatus.CONTEXT_EXCEEDED,
    }
)
"""Ends that say something about the policy. Faults of machine, endpoint, image and tests do not."""

_VARYING = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{12,}\b|\d+|/tmp/\S+", re.IGNORECASE)


def digest(trials: Iterable[Trial]) -> FailureDigest:
    """How the failing rollouts among `trials` failed.

    Args:
        trials: Of one bundle and one policy, in any order; with those that passed, for the counts.

    Raises:
        ValueError: There are none, or they are of several bundles.
    """
    tries = sorted({(trial.index, trial.retry): trial for trial in trials}.items())
    rollouts = [trial for _, trial in tries]
    if len({trial.bundle_hash for trial in rollouts}) != 1:
        raise ValueError("a digest is of the trials of one bundle")
    failing = [trial for trial in rollouts if trial.status in _OWN_DOING and trial.reward != 1.0]
    rewards = [trial.reward for trial in rollouts if trial.reward is not None]
    tests = _tests(failing)
    modes = _modes(failing)
    return FailureDigest(
        bundle_id=rollouts[0].bundle_id,
        bundle_hash=rollouts[0].bundle_hash,
        k=math.fsum(rewards),
        n=len(rewards),
        failing=len(failing),
        statuses=dict(sorted(Counter(trial.status.value for trial in rollouts).items())),
        tests=tuple(tests[:MOST_TESTS]),
        modes=tuple(modes[:MOST_MODES]),
        more_tests=max(0, len(tests) - MOST_TESTS),
        more_modes=max(0, len(modes) - MOST_MODES),
    )


def _tests(failing: Sequence[Trial]) -> list[FailedTest]:
    counts: Counter[str] = Counter()
    messages: dict[str, str] = {}
    for trial in failing:
        for name, message in _failed(trial).items():
            counts[name] += 1
            messages[name] = messages.get(name) or message
    found = [FailedTest(name=name, rollouts=count, message=messages[name]) for name, count in counts.items()]
    return sorted(found, key=lambda test: -test.rollouts)  # stable: else in the order of the reports


def _modes(failing: Sequence[Trial]) -> list[FailureMode]:
    groups: dict[tuple[object, ...], list[tuple[Trial, FailureMode]]] = {}
    for trial in failing:
        mode = _mode(trial)
        groups.setdefault(_likeness(mode), []).append((trial, mode))
    found = [_merged(group) for group in groups.values()]
    return sorted(found, key=lambda mode: -mode.rollouts)


def _mode(trial: Trial) -> FailureMode:
    fields = ending(trial.attempt) if trial.attempt is not None else {}
    if not fields.get("error"):
        fields["error"] = one_line(trial.error, ERROR_CHARACTERS)
    return FailureMode(
        rollouts=1, status=trial.status.value, reward=trial.reward, tests=tuple(_failed(trial)), **fields
    )


def _likeness(mode: FailureMode) -> tuple[object, ...]:
    """What rollouts that failed alike have in common: numbers, addresses and temporary names may differ."""
    return mode.status, mode.stopped, mode.tests, _VARYING.sub("#", mode.error), mode.steps == 0


def _merged(group: Sequence[tuple[Trial, FailureMode]]) -> FailureMode:
    first = group[0][1]
    rewards = [trial.reward for trial, _ in group if trial.reward is not None]
    reward = math.fsum(rewards) / len(rewards) if rewards else None
    tests = first.tests[:MOST_TESTS_OF_A_MODE]
    return first.model_copy(update={"rollouts": len(group), "reward": reward, "tests": tests})


def _failed(trial: Trial) -> dict[str, str]:
    return failed_tests(trial.verification.output_tail) if trial.verification is not None else {}
