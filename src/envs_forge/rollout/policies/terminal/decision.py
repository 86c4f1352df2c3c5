"""What an answer asks for. An answer is hostile input: whatever is not clearly a command is not run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from envs_forge.models.answer import Answer, AnswerKind, ToolCall
from envs_forge.models.wire import parsed, storable

TOOL_NAME = "bash"
TOOL: Mapping[str, object] = {
    "type": "function",
    "function": {
        "name": TOOL_NAME,
        "description": "Run a command in the shell. Returns its exit code and output.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command, as typed into bash."}},
            "required": ["command"],
        },
    },
}
_OPEN = re.compile(r"^(`{3,}|~{3,})[ \t]*(bash|sh|shell)[ \t]*$", re.IGNORECASE)
_ANY_OPEN = re.compile(r"^(`{3,}|~{3,})")
_BARE_OPEN = re.compile(r"^(`{3,}|~{3,})$")
_THOUGHT = re.compile(r"^.*</think>", re.DOTALL)
_DONE = re.compile(r"[*_`\s]*DONE[*_`.!\s]*")
_GIVE_UP = re.compile(r"[*_`\s]*GIVE UP\b.*")


class TurnOutcome(StrEnum):
    """What one answer came to."""

    ACTED = "acted"
    DONE = "done"
    GAVE_UP = "gave-up"
    BAD_CALL = "bad-call"
    NO_ACTION = "no-action"
    EMPTY = "empty"
    CUT = "cut"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `call` is the tool call that it came in, None for a fenced block; `fault` says why it cannot run."""

    text: str
    call: ToolCall | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done. With `done` the attempt is over after the commands."""

    outcome: TurnOutcome
    commands: tuple[Command, ...] = ()
    done: bool = False


def decide(answer: Answer, *, native: bool) -> Decision:
    """Read an answer.

    Args:
        answer: Of any kind; only a whole one is acted upon.
        native: Whether tools were offered; then calls count, and blocks where there is no call.

    The first block without a language is a command where no block is marked as shell: small models forget the mark.
    """
    if answer.kind is not AnswerKind.ANSWER:
        return Decision(TurnOutcome(answer.kind.value))
    text = _THOUGHT.sub("", answer.text)
    commands = tuple(_called(call) for call in answer.calls) if native else ()
    commands = commands or tuple(Command(block) for block in fenced(text) or fenced(text, _BARE_OPEN)[:1])
    ending = _ending(text)
    if any(not command.fault for command in commands):
        return Decision(TurnOutcome.ACTED, commands, done=ending is TurnOutcome.DONE)
    if commands:
        return Decision(TurnOutcome.BAD_CALL, commands)
    return Decision(ending or TurnOutcome.NO_ACTION, done=ending is not None)


def fenced(text: str, opens: re.Pattern[str] = _OPEN) -> list[str]:
    """The closed blocks that begin like `opens`, by default those marked as shell, in order.

    Other blocks are skipped as a whole.
    """
    fence, kept = "", False
    found: list[str] = []
    lines: list[str] = []
    for line in text.splitlines():
        if not fence:
            if opened := _ANY_OPEN.match(line.strip()):
                fence, kept, lines = opened[1], opens.match(line.strip()) is not None, []
        elif line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            if kept and any(line.strip() for line in lines):
                found.append("\n".join(lines))
            fence = ""
        else:
            lines.append(line)
    return found


def _called(call: ToolCall) -> Command:
    if call.name != TOOL_NAME:
        return Command("", call, f"there is no tool {call.name!r}, only {TOOL_NAME}")
    try:
        arguments = parsed(call.arguments)
    except ValueError:
        return Command("", call, "the arguments are not valid JSON")
    command = arguments.get("command") if isinstance(arguments, dict) else None
    if not isinstance(command, str) or not command.strip():
        return Command("", call, 'the arguments must be {"command": "…"}')
    return Command(storable(command), call)


def _ending(text: str) -> TurnOutcome | None:
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and _DONE.fullmatch(lines[-1]):
        return TurnOutcome.DONE
    return TurnOutcome.GAVE_UP if lines and _GIVE_UP.fullmatch(lines[-1]) else None
