"""A digest as text for a prompt: bounded, one fact a line, everything foreign in quotes."""

from __future__ import annotations

import json
from collections.abc import Iterator

from envs_forge.rollout.digest.model import FailedTest, FailureDigest, FailureMode

CHARACTERS = 2000
_STOPPED = {
    "done": "the agent said it was done",
    "gave-up": "the agent gave up",
    "limit": "a limit of turns or tokens was met",
    "agent-timeout": "the agent's time ran out",
    "context-exceeded": "the model's context was full",
    "agent-error": "the agent broke",
}


def render(digest: FailureDigest, *, most: int = CHARACTERS) -> str:
    """The digest in at most `most` characters; what is rarest is left out first.

    Quoted strings come from sandboxes: they are data, whatever they say.
    """
    tests, modes = list(digest.tests), list(digest.modes)
    while True:
        text = "\n".join(_lines(digest, tests, modes))
        if len(text) <= most or not (tests or modes):
            return text[:most]
        if len(tests) > 2 * len(modes) or not modes:
            tests.pop()
        else:
            modes.pop()


def _lines(digest: FailureDigest, tests: list[FailedTest], modes: list[FailureMode]) -> Iterator[str]:
    statuses = ", ".join(f"{count} {status}" for status, count in digest.statuses.items())
    yield f"{digest.k:g} of {digest.n} rollouts passed ({statuses})."
    if not digest.failing:
        yield "None failed."
        return
    if digest.tests:
        yield f"Tests that failed in the {digest.failing} failing rollouts:"
        yield from (_test(test) for test in tests)
        yield from _rest(digest.more_tests + len(digest.tests) - len(tests), "tests")
    for number, mode in enumerate(modes, 1):
        yield from _mode(number, mode)
    yield from _rest(digest.more_modes + len(digest.modes) - len(modes), "ways of failing")


def _rest(count: int, what: str) -> Iterator[str]:
    if count:
        yield f"- and {count} more {what}"


def _test(test: FailedTest) -> str:
    message = f": {_quoted(test.message)}" if test.message else ""
    return f"- {test.rollouts} x {_quoted(test.name)}{message}"


def _mode(number: int, mode: FailureMode) -> Iterator[str]:
    reward = "" if mode.reward is None else f", reward {mode.reward:.2g}"
    times = "once" if mode.rollouts == 1 else f"{mode.rollouts} times"
    yield f"Way {number}, {times}: {_STOPPED.get(mode.stopped, mode.status)} after {_steps(mode)}{reward}."
    if mode.last_command:
        code = "did not end" if mode.exit_code is None else f"exit code {mode.exit_code}"
        yield f"- last {'failing ' if mode.failed_steps else ''}command ({code}): {_quoted(mode.last_command)}"
    if mode.error:
        yield f"- error: {_quoted(mode.error)}"
    if mode.last_words:
        yield f"- last words: {_quoted(mode.last_words)}"
    if mode.tests:
        yield f"- failing tests: {', '.join(map(_quoted, mode.tests))}"


def _steps(mode: FailureMode) -> str:
    if not mode.steps:
        return "no command at all"
    failed = f", {mode.failed_steps} of them failing" if mode.failed_steps else ""
    repeated = f", the same one {mode.repeated} times" if mode.repeated > 2 else ""
    return f"{mode.steps} command{'s' * (mode.steps > 1)}{failed}{repeated}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
