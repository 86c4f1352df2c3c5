"""A policy that runs given commands, as the builtin policy runs those that it chose."""

from __future__ import annotations

import random

from envs_forge.rollout.policies.builtin.policy import VERSION, script_of, steps_of
from envs_forge.rollout.policy import Attempt, PolicyIdentity, StopReason, TaskView
from envs_forge.sandbox.engine import Sandbox
from envs_forge.train.rewards.deed import Deed


class Replay:
    """Does a deed. Implements `Policy`.

    Args:
        deed: What to do.
    """

    def __init__(self, deed: Deed) -> None:
        self._commands = deed.commands
        self._identity = PolicyIdentity(kind="replay", name="builtin", version=VERSION, settings={"deed": deed.key[1]})

    @property
    def identity(self) -> PolicyIdentity:
        """Names the commands by their digest."""
        return self._identity

    def attempt(self, task: TaskView, sandbox: Sandbox, *, seed: int) -> Attempt:
        """Run the commands; see `Policy`."""
        if not self._commands:
            return Attempt(stopped=StopReason.GAVE_UP, error="nothing was done")
        mark = f"--{random.Random(f'mark/{seed}').getrandbits(64):016x}--"
        result = sandbox.exec(["bash", "-c", script_of(self._commands, mark)], timeout=task.timeout_s)
        stopped = StopReason.TIMEOUT if result.timed_out else StopReason.DONE
        return Attempt(steps=steps_of(self._commands, mark, result), stopped=stopped)
