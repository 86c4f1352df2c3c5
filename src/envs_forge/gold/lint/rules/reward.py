"""Rules about the reward: written on success and on failure, one number in [0, 1], and not always the same."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from envs_forge.bundle.check import TEST
from envs_forge.gold.lint.flow import UNKNOWN, Flow, Write
from envs_forge.gold.lint.registry import ERROR, WARNING, Hit, rule
from envs_forge.gold.lint.task import Task

REWARD = "/logs/verifier/reward.txt"


def _rewards(flow: Flow) -> frozenset[str | None]:
    return frozenset().union(*(end.rewards for end in flow.ends))


@rule(
    "reward-never-written",
    ERROR,
    "nothing in the tests or the image writes a reward",
    fix=f"write 1 or 0 to {REWARD} at the end of tests/test.sh",
)
def never_written(task: Task) -> Iterator[Hit]:
    """The script writes none, calls nothing that might, and no other file speaks of a reward."""
    flow = task.flow
    if flow is None or task.test is None or flow.writes or flow.delegated or "reward" in task.test.text.lower():
        return
    if not task.reward_writers:
        yield Hit("no reward is ever written", TEST, severity=None if task.image else WARNING)


@rule(
    "reward-lost-to-errexit",
    ERROR,
    "`set -e` ends the tests at the first failure, before a reward is written",
    fix="drop `set -e`, or write 0 first, or write the reward in a `trap … EXIT`",
)
def lost_to_errexit(task: Task) -> Iterator[Hit]:
    """A check that fails under `set -e` while no reward has been written on the way to it."""
    flow = task.flow
    if flow is None or not flow.writes:
        return
    for end in flow.ends:
        if end.cause == "errexit" and None in end.rewards:
            yield Hit(f"when {_short(end.what)} fails, `set -e` ends the script without a reward", TEST, end.line)
            return


@rule(
    "reward-only-on-success",
    ERROR,
    "the reward is written when the tests pass, and nothing when they fail",
    fix="add an `else` that writes 0",
)
def only_on_success(task: Task) -> Iterator[Hit]:
    """One condition is the only place of a write, and its other case writes nothing."""
    flow = task.flow
    if flow is None or not any(None in end.rewards for end in flow.ends if end.cause == "end"):
        return
    sure = len(flow.gaps) == 1 and len(flow.writes) == 1 and not flow.delegated
    for line in flow.gaps:
        yield Hit("no reward is written in the other case", TEST, line, severity=None if sure else WARNING)


@rule(
    "exit-without-reward",
    WARNING,
    "an `exit` leaves the tests before a reward is written",
    fix="write 0 before it",
)
def exit_without_reward(task: Task) -> Iterator[Hit]:
    """An explicit exit on a path without a write."""
    flow = task.flow
    if flow is None or not flow.writes:
        return
    for end in flow.ends:
        if end.cause == "exit" and None in end.rewards:
            yield Hit(f"{end.what} leaves without a reward", TEST, end.line)


@rule(
    "constant-reward",
    ERROR,
    "the reward is the same whatever the tests find",
    fix="write 1 only when every check passed, else 0",
)
def constant_reward(task: Task) -> Iterator[Hit]:
    """Every way through the script ends with the same constant."""
    flow = task.flow
    if flow is None or not flow.ends:
        return
    rewards = _rewards(flow)
    if len(rewards) == 1 and not rewards & {None, UNKNOWN}:
        (value,) = rewards
        yield Hit(f"the reward is always {value}", TEST, flow.writes[-1].line)


@rule(
    "reward-out-of-range",
    ERROR,
    "a constant reward that is no number in [0, 1]",
    fix="write one number between 0 and 1",
)
def out_of_range(task: Task) -> Iterator[Hit]:
    """Constants that no reader accepts; a later write may make up for it, so only the last is an error."""
    flow = task.flow
    if flow is None:
        return
    ends = _rewards(flow)
    for write in flow.writes:
        if write.value != UNKNOWN and not _is_reward(write):
            shown = write.value or "nothing"
            yield Hit(f"writes {shown}", TEST, write.line, severity=None if write.value in ends else WARNING)


def _is_reward(write: Write) -> bool:
    try:
        value = json.loads(write.value)
        if write.target.endswith(".json"):
            value = value["reward"] if isinstance(value, dict) else value
        return not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1
    except (ValueError, KeyError, TypeError):
        return False


@rule(
    "two-reward-files",
    WARNING,
    "both reward.txt and reward.json are written",
    fix="write one of them: readers differ in which they take first",
)
def two_files(task: Task) -> Iterator[Hit]:
    """Two sources that may disagree."""
    flow = task.flow
    if flow is None:
        return
    kinds = {write.target.rsplit(".", 1)[-1]: write.line for write in flow.writes if "reward." in write.target}
    if {"txt", "json"} <= set(kinds):
        yield Hit("writes reward.txt and reward.json", TEST, max(kinds["txt"], kinds["json"]))


@rule(
    "reward-elsewhere",
    WARNING,
    "the reward is written to another place than /logs/verifier",
    fix=f"write it to {REWARD}",
)
def elsewhere(task: Task) -> Iterator[Hit]:
    """An absolute path to a reward file that no reader looks at."""
    flow = task.flow
    if flow is None or task.test is None:
        return
    moved = any(c.name in ("cp", "mv", "ln") and "/logs/verifier" in c.text for c in task.test.commands)
    for write in flow.writes:
        absolute = write.target.startswith("/") and "$" not in write.target
        if absolute and not write.target.startswith("/logs/verifier/") and not moved:
            yield Hit(f"writes {write.target}", TEST, write.line)


def _short(text: str) -> str:
    words = " ".join(text.split())
    return f"`{words[:57]}…`" if len(words) > 60 else f"`{words}`"
