"""The messages of one attempt, as endpoints and their chat templates want them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs_forge.models.answer import Answer, Message
from envs_forge.models.wire import parsed
from envs_forge.rollout.policies.terminal.decision import Command

_NOTHING = "(nothing)"


class Conversation:
    """System prompt, task, then answers and what came of them, in turns.

    Args:
        system: The system prompt.
        task: The first message of the user.
    """

    def __init__(self, system: str, task: str) -> None:
        self._messages: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": task}]
        self.added_bytes = 0
        """Bytes of what came after the newest answer: what its usage does not count yet."""

    @property
    def messages(self) -> Sequence[Message]:
        """All of them."""
        return tuple(self._messages)

    def observed(self, answer: Answer, commands: Sequence[Command], observations: Sequence[str]) -> None:
        """An answer with commands, and what each of them gave."""
        calls = [command.call for command in commands if command.call is not None]
        if not calls:
            self._answer(answer)
            self._add({"role": "user", "content": "\n\n".join(observations)})
            return
        documents = [
            {
                "id": call.id,
                "type": "function",
                # Chat templates parse what they get back, so that broken arguments would break every later request.
                "function": {"name": call.name or "unknown", "arguments": _valid(call.arguments)},
            }
            for call in calls
        ]
        self._answer(answer, tool_calls=documents)
        for call, observation in zip(calls, observations, strict=True):
            self._add({"role": "tool", "tool_call_id": call.id, "content": observation})

    def remarked(self, answer: Answer, remark: str) -> None:
        """An answer that could not be acted upon, and what the model is told about it."""
        self._answer(answer)
        self._add({"role": "user", "content": remark})

    def _answer(self, answer: Answer, **more: Any) -> None:
        # Roles must alternate and contents must not be empty for many templates.
        content = answer.text if answer.text.strip() else (None if more else _NOTHING)
        self._messages.append({"role": "assistant", "content": content, **more})
        self.added_bytes = 0

    def _add(self, message: Message) -> None:
        self._messages.append(message)
        self.added_bytes += len(str(message["content"]).encode("utf-8", errors="replace"))


def _valid(arguments: str) -> str:
    try:
        return arguments if isinstance(parsed(arguments), dict) else "{}"
    except ValueError:
        return "{}"
