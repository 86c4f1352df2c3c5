"""Tasks → the rows that TRL draws its prompts from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from envs_forge.rollout.policies.terminal.prompting import render
from envs_forge.sandbox.runtime import Prepared
from envs_forge.train.grpo.episodes import TASK_KEY, TaskInUse
from envs_forge.train.grpo.settings import GrpoSettings


def opening_messages(instruction: str, workdir: str, settings: GrpoSettings) -> list[dict[str, str]]:
    """The conversation before the first answer, as the terminal agent begins it."""
    system = render(
        "system",
        native=False,
        workdir=workdir,
        command_timeout=f"{settings.command_timeout_s:g}",
        output_chars=settings.output_chars,
        turns=settings.turns,
    )
    task = render("task", instruction=instruction, native=False)
    return [{"role": "system", "content": system}, {"role": "user", "content": task}]


def rows(tasks: Iterable[TaskInUse], settings: GrpoSettings) -> list[dict[str, Any]]:
    """A row a task, sorted by content: `prompt` is the opening, its first message names the task."""
    made = []
    for task in sorted(tasks, key=lambda task: task.hash):
        messages = _opening(task.prepared, settings)
        # Each message has the key, since a column's rows must be alike.
        made.append({"prompt": [{**message, TASK_KEY: task.hash} for message in messages]})
    return made


def _opening(prepared: Prepared, settings: GrpoSettings) -> list[dict[str, str]]:
    return opening_messages(prepared.bundle.instruction, prepared.image.workdir, settings)
