"""One attempt of the terminal agent, turn by turn."""

from __future__ import annotations

from envs_forge.config import AgentSettings
from envs_forge.errors import InfrastructureError
from envs_forge.models.answer import Answer, Request
from envs_forge.models.asking import Asking
from envs_forge.models.faults import ContextExceededError, EndpointError
from envs_forge.models.usage import UsageTotal
from envs_forge.rollout.policies.terminal.clock import AgentClock
from envs_forge.rollout.policies.terminal.conversation import Conversation
from envs_forge.rollout.policies.terminal.decision import TOOL, Command, Decision, TurnOutcome, decide
from envs_forge.rollout.policies.terminal.output import shown
from envs_forge.rollout.policies.terminal.prompting import render
from envs_forge.rollout.policies.terminal.shell import Ran, Shell
from envs_forge.rollout.policies.terminal.turns import Turn, turn_of
from envs_forge.rollout.policy import Attempt, SpoiltAttemptError, Step, StopReason, TaskView
from envs_forge.sandbox.engine import Sandbox

COMMANDS_A_TURN = 8
SMALLEST_ANSWER = 64
"""Tokens that must fit into the context beside the conversation, else it is full."""
_BYTES_A_TOKEN = 2
"""Fewer than texts have: what is not counted yet is rather taken for too long than for too short."""

Ending = tuple[StopReason, str]


class Episode:
    """One attempt.

    Args:
        client: Who is asked.
        settings: Limits.
        native: Whether the endpoint takes tools.
        task: What the agent is told.
        sandbox: Where it works.
        seed: For the endpoint's sampling; each turn has its own that follows from it.
    """

    def __init__(
        self,
        client: Asking,
        settings: AgentSettings,
        *,
        native: bool,
        task: TaskView,
        sandbox: Sandbox,
        seed: int,
    ) -> None:
        self._client = client
        self._settings = settings
        self._native = native
        self._seed = seed
        self._clock = AgentClock(task.timeout_s)
        self._shell = Shell(sandbox)
        self._talk = Conversation(
            render(
                "system",
                native=native,
                workdir=task.workdir,
                command_timeout=f"{settings.command_timeout_s:g}",
                output_chars=settings.output_chars,
                turns=settings.turns,
            ),
            render("task", native=native, instruction=task.instruction),
        )
        self._turns: list[Turn] = []
        self._steps: list[Step] = []
        self._usage = UsageTotal()
        self._spent = 0
        self._context = 0
        self._idle = 0

    def run(self) -> Attempt:
        """Until done, given up, or at a limit.

        Raises:
            SpoiltAttemptError: The machine or the endpoint failed.
        """
        try:
            ending = self._run()
        except InfrastructureError as error:
            if isinstance(error, EndpointError):
                self._usage = self._usage.plus_unknown(error.unknown_calls)
            raise SpoiltAttemptError(error, self._record((StopReason.BROKEN_OFF, error.message))) from error
        return self._record(ending)

    def _run(self) -> Ending:
        for number in range(self._settings.turns):
            if (over := self._limit()) is not None:
                return over
            asked = self._room()
            if asked < min(SMALLEST_ANSWER, self._client.sampling.max_tokens):
                return StopReason.CONTEXT, f"the context of {self._settings.context_tokens} tokens is full"
            try:
                answer = self._ask(number, asked)
            except ContextExceededError as error:
                self._usage = self._usage.plus_unknown(error.unknown_calls)
                return StopReason.CONTEXT, error.message
            if (ending := self._take(answer, asked)) is not None:
                return ending
        return StopReason.LIMIT, f"{self._settings.turns} turns"

    def _limit(self) -> Ending | None:
        if self._clock.left <= 0:
            return StopReason.TIMEOUT, ""
        if self._settings.tokens is not None and self._spent >= self._settings.tokens:
            return StopReason.LIMIT, f"{self._settings.tokens} tokens"
        return None

    def _room(self) -> int:
        """The most tokens that the next answer may have."""
        most = self._client.sampling.max_tokens
        if self._settings.context_tokens is None:
            return most
        added = self._talk.added_bytes if self._context else _bytes(self._talk)
        return min(most, self._settings.context_tokens - self._context - added // _BYTES_A_TOKEN)

    def _ask(self, number: int, max_tokens: int) -> Answer:
        """Ask, and count.

        The answer is waited for even beyond the agent's time: only so is a slow model told from a dead endpoint.
        """
        request = Request(messages=self._talk.messages, tools=[TOOL] if self._native else [], seed=self._seed + number)
        answer = self._client.ask(request, max_tokens=max_tokens)
        self._clock.give_back(answer.lost_s)
        usage = answer.usage
        self._usage = self._usage.plus_unknown(answer.unknown_calls).plus(usage)
        if usage.prompt_tokens is not None and usage.completion_tokens is not None:
            self._context = usage.prompt_tokens + usage.completion_tokens
            self._spent += self._context
        else:
            # Not counted is not free. A token has at least one byte, so limits err on the safe side.
            self._context = _bytes(self._talk) // _BYTES_A_TOKEN + max_tokens
            self._spent += _bytes(self._talk) + max_tokens
        return answer

    def _take(self, answer: Answer, asked: int) -> Ending | None:
        """Do what an answer asks for; how the attempt ends, where it does."""
        decision = decide(answer, native=self._native)
        before = len(self._steps)
        try:
            return self._act(answer, decision, asked)
        finally:  # a sandbox that fails takes nothing from what the answer cost
            self._turns.append(turn_of(answer, decision.outcome, len(self._steps) - before))

    def _act(self, answer: Answer, decision: Decision, asked: int) -> Ending | None:
        outcome = decision.outcome
        if outcome is TurnOutcome.CUT and _cut_early(answer, asked):
            return StopReason.CONTEXT, "the answer was cut before its own limit: the context is full"
        if self._clock.left <= 0:
            return StopReason.TIMEOUT, ""
        if decision.commands:
            observations = [self._observe(answer, command, n) for n, command in enumerate(decision.commands)]
            if self._clock.left <= 0:
                return StopReason.TIMEOUT, ""
            self._talk.observed(answer, decision.commands, observations)
        elif not self._ends(decision):
            self._talk.remarked(answer, self._remark(outcome))
        if self._ends(decision):
            return (StopReason.GAVE_UP if outcome is TurnOutcome.GAVE_UP else StopReason.DONE), ""
        self._idle = 0 if outcome is TurnOutcome.ACTED else self._idle + 1
        if self._idle >= self._settings.idle_turns:
            return StopReason.GAVE_UP, f"{self._idle} answers in a row without a command, the last one: {outcome}"
        return None

    def _ends(self, decision: Decision) -> bool:
        """Whether the model may stop here. Small models say that they are done before they have done anything."""
        return decision.done and (decision.outcome is not TurnOutcome.DONE or bool(self._steps))

    def _remark(self, outcome: TurnOutcome) -> str:
        return render("remark", outcome=outcome.value, native=self._native, max_tokens=self._client.sampling.max_tokens)

    def _observe(self, answer: Answer, command: Command, number: int) -> str:
        """Run one command; what the model is shown of it."""
        if command.fault:
            return f"not run: {command.fault}"
        if number >= COMMANDS_A_TURN or self._clock.left <= 0:
            return f"not run: at most {COMMANDS_A_TURN} commands a turn"
        ran = self._shell.run(command.text, min(self._settings.command_timeout_s, self._clock.left))
        output = shown(ran.output, self._settings.output_chars)
        note = answer.text if number == 0 else ""
        self._steps.append(
            Step(command=command.text, exit_code=ran.exit_code, output=output, duration_s=ran.duration_s, note=note)
        )
        return _observation(ran, output)

    def _record(self, ending: Ending) -> Attempt:
        stopped, error = ending
        usage = self._usage
        return Attempt(
            steps=tuple(self._steps),
            stopped=stopped,
            error=error,
            prompt_tokens=usage.prompt_tokens if usage.complete else None,
            completion_tokens=usage.completion_tokens if usage.complete else None,
            cached_tokens=usage.cached_tokens if usage.complete else None,
            reasoning_tokens=usage.reasoning_tokens if usage.complete else None,
            extra={
                "turns": [turn.model_dump(mode="json", exclude_none=True) for turn in self._turns],
                "usage": usage.model_dump(mode="json"),
                "tools": "native" if self._native else "fenced",
            },
        )


def _cut_early(answer: Answer, asked: int) -> bool:
    """Whether an answer was cut though it was shorter than what it was allowed."""
    return answer.usage.completion_tokens is not None and answer.usage.completion_tokens < asked - 1


def _observation(ran: Ran, output: str) -> str:
    """The facts come first, so that no output can pass for them."""
    return render(
        "observation",
        timed_out=ran.timed_out,
        seconds=f"{ran.duration_s:.0f}",
        exit_code=ran.exit_code,
        oom=ran.oom,
        truncated=ran.truncated,
        state_kept=ran.state_kept,
        output=output,
    )


def _bytes(talk: Conversation) -> int:
    return sum(len(str(message).encode("utf-8", errors="replace")) for message in talk.messages)
