"""A training of a language model in a directory: checked first, begun, gone on with.

finetuning.json        what was asked for, with the tasks' content hashes
preflight.json         what was checked before the model was loaded
metrics.jsonl          a line a step
episodes.jsonl         a line an episode: answers, commands, reward
checkpoints/           of the trainer, the newest two
model/                 the trained model, or its adapter
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from envs_forge import __version__
from envs_forge.config import RunConfig
from envs_forge.files import write_json
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.run.parts import cores, open_runtime_for
from envs_forge.run.request import begun
from envs_forge.run.seeds import Seed
from envs_forge.sandbox.runtime import Runtime
from envs_forge.synthesis.overlap.evaluation import read_evaluation
from envs_forge.train.builtin.learner import TrainingTask
from envs_forge.train.grpo.settings import GrpoSettings

CONFIG, PREFLIGHT = "finetuning.json", "preflight.json"
WHAT = "training of a model"


class FinetuningConfig(BaseModel):
    """What a training of a language model is asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    model: str
    """A directory or a name at the hub."""
    settings: GrpoSettings = GrpoSettings()
    """How it is trained."""
    held_out: tuple[str, ...] = ()
    """Evaluation sets, directories or JSONL files, that no task may repeat."""
    oracles: int = 3
    """Tasks whose oracle is run again before the model is loaded."""
    engine: Literal["auto", "oci", "docker"] = "auto"
    """Sandbox engine."""
    network: bool = True
    """Whether a bundle that asks for a network gets one."""
    concurrency: int | None = None
    """Sandboxes at work at once. None: one for each core."""


def finetune(
    root: Path,
    config: FinetuningConfig,
    seeds: Sequence[Seed],
    *,
    say: Callable[[str], None],
    on_step: Callable[[int, dict[str, Any]], None] = lambda step, logs: None,
) -> int:
    """Check, then train, from the newest checkpoint on where there is one.

    Args:
        root: The directory, which the caller holds.
        config: What is wanted.
        seeds: The tasks.
        say: Takes lines for the user.
        on_step: Told of each step.

    Returns:
        Steps that are done.

    Raises:
        PrerequisiteError: The extra `train` or an engine is missing.
        UserError: Something that the preflight found, or the directory holds another training.
    """
    from envs_forge.train.grpo.trainer import require_extra

    require_extra()
    begun(root / CONFIG, _request(config, {seed.id: seed.hash for seed in seeds}), what=WHAT)
    with open_runtime_for(RunConfig(engine=config.engine, network=config.network)) as runtime:
        return _train(root, config, [TrainingTask(seed.bundle, seed.hash) for seed in seeds], runtime, say, on_step)


def _train(
    root: Path,
    config: FinetuningConfig,
    tasks: Sequence[TrainingTask],
    runtime: Runtime,
    say: Callable[[str], None],
    on_step: Callable[[int, dict[str, Any]], None],
) -> int:
    from envs_forge.train.grpo import preflight
    from envs_forge.train.grpo.episodes import Episodes, agent_settings
    from envs_forge.train.grpo.tokens import ChatPieces
    from envs_forge.train.grpo.trainer import GrpoTraining, load_tokenizer

    settings, workers = config.settings, config.concurrency or cores()
    tokenizer = load_tokenizer(config.model)
    pieces = ChatPieces(tokenizer)
    held_out = read_evaluation(config.held_out)
    preflight.check_overlap(tasks, held_out)
    built = preflight.prepare_all(tasks, runtime, concurrency=workers)
    usable, too_long = preflight.split_by_length(built, pieces, settings)
    for name, tokens in sorted(too_long.items()):
        say(f"left out, its prompt is too long: {name} ({tokens} tokens)")
    oracles = preflight.check_oracles(usable, runtime, sample=config.oracles, seed=settings.seed, say=say)
    found = preflight.Preflight(
        tasks=len(usable),
        held_out=len(held_out),
        oracles=oracles,
        longest_prompt=max(preflight.prompt_tokens(task, pieces, settings) for task in usable),
        too_long=too_long,
    )
    if not (root / CONFIG).is_file():
        request = _request(config, {task.bundle.id: task.hash for task in tasks})
        write_json(root / CONFIG, {"schema_version": 1, "version": __version__, **request})
    write_json(root / PREFLIGHT, found.model_dump(mode="json"))
    say(f"{found.tasks} tasks, prompts of at most {found.longest_prompt} tokens; loading the model")
    identity = PolicyIdentity(
        kind="trained", name=config.model, version="1", settings=agent_settings(settings).model_dump(mode="json")
    )
    training = GrpoTraining(
        root,
        config.model,
        tokenizer,
        usable,
        settings,
        episodes=lambda recorder: Episodes(
            runtime,
            {task.hash: task for task in usable},
            pieces,
            settings,
            identity=identity,
            concurrency=workers,
            record=recorder.group,
        ),
        on_step=on_step,
    )
    return training.run()


def _request(config: FinetuningConfig, tasks: dict[str, str]) -> dict[str, Any]:
    """What must stay the same where a training is gone on with."""
    essence = config.model_dump(mode="json", exclude={"engine", "concurrency", "oracles", "held_out"})
    for free in ("steps", "checkpoint_every", "vllm_url", "micro_batch"):  # they do not change what was trained so far
        essence["settings"].pop(free)
    return {**essence, "tasks": tasks}
