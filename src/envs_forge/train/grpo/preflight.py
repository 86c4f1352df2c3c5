"""All that can be wrong with a training before a model is loaded, which may take minutes and a GPU."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import UserError
from envs_forge.rollout.policies.oracle import OraclePolicy
from envs_forge.rollout.runner import run_trial
from envs_forge.sandbox.images.model import BuildFault
from envs_forge.sandbox.runtime import Prepared, Runtime
from envs_forge.synthesis.overlap.corpus import Corpus
from envs_forge.synthesis.overlap.document import Document
from envs_forge.synthesis.overlap.eligibility import overlap_risk
from envs_forge.train.builtin.learner import TrainingTask
from envs_forge.train.grpo.dataset import opening_messages
from envs_forge.train.grpo.episodes import TaskInUse
from envs_forge.train.grpo.settings import GrpoSettings
from envs_forge.train.grpo.tokens import ChatPieces

_SHOWN = 5


class Preflight(BaseModel):
    """What was checked. `too_long` has the tasks that are left out, with the tokens of their prompts."""

    model_config = ConfigDict(frozen=True)

    tasks: int
    held_out: int
    """Evaluation tasks that were compared with."""
    oracles: tuple[str, ...]
    """Tasks whose oracle was run again and passed."""
    longest_prompt: int
    """Tokens, of the tasks that are trained on."""
    too_long: dict[str, int]


def check_overlap(tasks: Iterable[TrainingTask], held_out: Sequence[Document]) -> None:
    """Refuse tasks that repeat an evaluation task.

    Raises:
        UserError: Names them.
    """
    corpus = Corpus(evaluation=held_out)
    risks = {task.bundle.id: risk for task in tasks if (risk := overlap_risk(task.bundle, corpus))}
    if risks:
        raise UserError(_some(risks, "overlap with the evaluation"), fix="leave them out with -x")


def prepare_all(tasks: Sequence[TrainingTask], runtime: Runtime, *, concurrency: int) -> list[TaskInUse]:
    """Build every image.

    Raises:
        UserError: Some do not build; names them.
        InfrastructureError: The machine failed.
    """
    with ThreadPoolExecutor(concurrency, thread_name_prefix="build") as pool:
        built = list(pool.map(lambda task: runtime.prepare(task.bundle), tasks))
    faults = {
        task.bundle.id: found.message for task, found in zip(tasks, built, strict=True) if isinstance(found, BuildFault)
    }
    if faults:
        raise UserError(_some(faults, "do not build"), fix="leave them out with -x")
    return [
        TaskInUse(task.hash, found) for task, found in zip(tasks, built, strict=True) if isinstance(found, Prepared)
    ]


def check_oracles(
    tasks: Sequence[TaskInUse], runtime: Runtime, *, sample: int, seed: int, say: Callable[[str], None]
) -> tuple[str, ...]:
    """Run the oracles of a few tasks again: what passed elsewhere must pass on this machine.

    Raises:
        UserError: One does not get the full reward here.
    """
    known = sorted(tasks, key=lambda task: task.hash)
    chosen = random.Random(f"oracles/{seed}").sample(known, min(sample, len(known)))
    for task in chosen:
        trial = run_trial(runtime, task.prepared, OraclePolicy(), index=0, bundle_hash=task.hash)
        name = task.prepared.bundle.id
        if trial.reward != 1.0:
            found = trial.error or f"reward {trial.reward}"
            raise UserError(f"the oracle of {name} does not pass here: {trial.status}, {found}",
                            fix="run envs-forge verify on the tasks")  # fmt: skip
        say(f"oracle of {name}: passed")
    return tuple(sorted(task.prepared.bundle.id for task in chosen))


def split_by_length(
    tasks: Sequence[TaskInUse], pieces: ChatPieces, settings: GrpoSettings
) -> tuple[list[TaskInUse], dict[str, int]]:
    """Tasks whose opening leaves room for an answer, and the tokens of the others' openings.

    Raises:
        UserError: No task is left.
    """
    most = settings.context_tokens - settings.answer_tokens
    lengths = {task.hash: prompt_tokens(task, pieces, settings) for task in tasks}
    kept = [task for task in tasks if lengths[task.hash] <= most]
    if not kept:
        raise UserError(
            f"no task's prompt leaves {settings.answer_tokens} tokens of the {settings.context_tokens} of an episode",
            fix="raise --context or lower --answer-tokens",
        )
    return kept, {task.prepared.bundle.id: lengths[task.hash] for task in tasks if lengths[task.hash] > most}


def prompt_tokens(task: TaskInUse, pieces: ChatPieces, settings: GrpoSettings) -> int:
    """Tokens before the first answer, by the model's own tokenizer and chat template."""
    prepared = task.prepared
    return len(pieces.opening(opening_messages(prepared.bundle.instruction, prepared.image.workdir, settings)))


def _some(found: dict[str, str], what: str) -> str:
    lines = [f"{name}: {why}" for name, why in sorted(found.items())]
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return f"{len(lines)} tasks {what}: {'; '.join(lines[:_SHOWN])}{more}"
