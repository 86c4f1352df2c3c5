"""The builtin policy. It reads the instruction, runs real commands in the sandbox, and is not a language model."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.decision import Decision, probabilities
from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters, preset
from envs_forge.rollout.policies.builtin.reader import Job, Option, understand
from envs_forge.rollout.policy import Attempt, PolicyIdentity, Step, StopReason, TaskView
from envs_forge.sandbox.engine import ExecResult, Sandbox

VERSION = "1"
OUTPUT_TAIL = 2000


class BuiltinPolicy:
    """A log-linear model picks a way for every clause; the ways' commands then run in one shell.

    Args:
        parameters: Default: the medium preset.
    """

    def __init__(self, parameters: BuiltinParameters | None = None) -> None:
        self.parameters = parameters or preset()
        self._identity = PolicyIdentity(
            kind="builtin",
            name=f"builtin-{self.parameters.strength}",
            version=VERSION,
            settings={"parameters": self.parameters.digest, "temperature": self.parameters.temperature},
        )

    @property
    def identity(self) -> PolicyIdentity:
        """Kind, strength, and the digest of the parameters."""
        return self._identity

    def attempt(self, task: TaskView, sandbox: Sandbox, *, seed: int) -> Attempt:
        """Read, choose, run; see `Policy`. `extra["decisions"]` has a `Decision` for every clause that was taken."""
        jobs, unknown, decisions = self.read(task.instruction, seed)
        extra = {
            "decisions": [decision.model_dump(mode="json") for decision in decisions],
            "not_understood": unknown,
        }
        if not jobs:
            return Attempt(stopped=StopReason.GAVE_UP, error="no clause was understood", extra=extra)
        mark = f"--{random.Random(f'mark/{seed}').getrandbits(64):016x}--"
        commands = [job.command() for job in jobs]
        result = sandbox.exec(["bash", "-c", script_of(commands, mark)], timeout=task.timeout_s)
        return Attempt(
            steps=steps_of(commands, mark, result),
            stopped=_stopped(result, unknown),
            error="not understood: " + unknown[0] if unknown else "",
            extra=extra,
        )

    def read(self, instruction: str, seed: int) -> tuple[list[Job], list[str], list[Decision]]:
        """What the policy makes of an instruction: jobs, sentences it has no way for, and its decisions."""
        dice = random.Random(f"builtin/{self.parameters.digest}/{seed}")
        decisions: list[Decision] = []

        def choose(place: int, clause: Clause, options: Sequence[Option]) -> int:
            chances = probabilities([option.way for option in options], clause.words, self.parameters)
            chosen = _draw(chances, dice.random())
            ways = tuple(option.way.id for option in options)
            decisions.append(
                Decision(clause=place, words=clause.words, ways=ways, probabilities=chances, chosen=chosen)
            )
            return chosen

        jobs, unknown = understand(instruction, choose)
        return jobs, unknown, decisions


def _draw(chances: Sequence[float], point: float) -> int:
    """The place whose share of [0, 1) holds the point."""
    for place, chance in enumerate(chances):
        point -= chance
        if point < 0:
            return place
    return len(chances) - 1


def script_of(commands: Sequence[str], mark: str) -> str:
    """One shell script: each command in a subshell, its exit code on a line of its own behind the mark."""
    parts = ["exec 2>&1"]
    parts += [f"(\n{command}\n)\nprintf '\\n%s %d\\n' '{mark}' \"$?\"" for command in commands]
    return "\n".join(parts) + "\n"


def steps_of(commands: Sequence[str], mark: str, result: ExecResult) -> tuple[Step, ...]:
    """Cut the output at the marks. A command whose mark never came has no exit code of its own."""
    text = result.stdout.decode("utf-8", errors="replace")
    parts = re.split(rf"\n?{re.escape(mark)} (\d+)\n", text)
    outputs, codes = parts[::2], [int(code) for code in parts[1::2]]
    steps: list[Step] = []
    for place, command in enumerate(commands):
        done = place < len(codes)
        output = outputs[place] if place < len(outputs) else ""
        share = result.duration_s if place == len(commands) - 1 else 0.0
        code = codes[place] if done else None
        steps.append(Step(command=command, exit_code=code, output=output[-OUTPUT_TAIL:], duration_s=share))
    return tuple(steps)


def _stopped(result: ExecResult, unknown: Sequence[str]) -> StopReason:
    if result.timed_out:
        return StopReason.TIMEOUT
    return StopReason.GAVE_UP if unknown else StopReason.DONE
