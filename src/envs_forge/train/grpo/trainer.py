"""The training itself: TRL's GRPO trainer with our episodes in place of its generation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.train.grpo.dataset import rows
from envs_forge.train.grpo.episodes import Episodes, TaskInUse, verifier_reward
from envs_forge.train.grpo.metrics import Recorder
from envs_forge.train.grpo.sampling import sampler_of
from envs_forge.train.grpo.settings import GrpoSettings

CHECKPOINTS, MODEL = "checkpoints", "model"


def require_extra() -> None:
    """Check that the extra `train` is installed.

    Raises:
        PrerequisiteError: Something of it is missing.
    """
    from importlib.util import find_spec

    missing = [name for name in ("torch", "transformers", "trl", "peft", "datasets") if find_spec(name) is None]
    if missing:
        raise PrerequisiteError(f"{', '.join(missing)} not installed", fix="pip install 'envs-forge[train]'")


def load_tokenizer(model: str) -> Any:
    """The tokenizer of a model, a directory or a name at the hub.

    Raises:
        UserError: There is none.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
    except (OSError, ValueError) as error:
        raise UserError(
            f"no tokenizer of {model}: {_line(error)}", fix="give a directory or a name of the hub"
        ) from error
    if tokenizer.eos_token is None:
        raise UserError(f"the tokenizer of {model} has no end-of-sequence token", fix="train an instruct model")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


class GrpoTraining:
    """One training of one model.

    Args:
        root: Directory of checkpoints, records and the trained model.
        model: A directory or a name at the hub.
        tokenizer: The model's.
        tasks: What is trained on, checked and built.
        settings: How.
        episodes: Makes the runner of episodes from the place where groups are recorded.
        on_step: Told the number of each step and its figures.
    """

    def __init__(
        self,
        root: Path,
        model: str,
        tokenizer: Any,
        tasks: Sequence[TaskInUse],
        settings: GrpoSettings,
        *,
        episodes: Callable[[Recorder], Episodes],
        on_step: Callable[[int, dict[str, Any]], None] = lambda step, logs: None,
    ) -> None:
        self._root, self._settings = root, settings
        self._recorder = Recorder(root)
        self._episodes = episodes(self._recorder)
        self.trainer = self._build(model, tokenizer, tasks, on_step)

    def run(self) -> int:
        """Train, from the newest checkpoint on where there is one; the steps that are done in the end."""
        from transformers.trainer_utils import get_last_checkpoint

        folder = self._root / CHECKPOINTS
        newest = get_last_checkpoint(str(folder)) if folder.is_dir() else None
        self._recorder.cut(int(newest.rpartition("-")[2]) if newest else 0)
        self.trainer.train(resume_from_checkpoint=newest)
        self.trainer.save_model(str(self._root / MODEL))
        return int(self.trainer.state.global_step)

    def _build(self, model: str, tokenizer: Any, tasks: Sequence[TaskInUse], on_step: Callable[..., None]) -> Any:
        # TRL warns at each start that `rollout_func` may change; the version is pinned for that.
        os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
        from datasets import Dataset
        from transformers.trainer_callback import PrinterCallback
        from trl import GRPOTrainer

        trainer = GRPOTrainer(
            model=load_model(model),
            processing_class=tokenizer,
            args=grpo_config(self._settings, self._root / CHECKPOINTS),
            train_dataset=Dataset.from_list(rows(tasks, self._settings)),
            reward_funcs=[verifier_reward],
            rollout_func=self._rollouts,
            peft_config=_lora(self._settings),
            callbacks=[_step_callback(self._recorder, on_step)],
        )
        trainer.remove_callback(PrinterCallback)  # stdout is for results
        return trainer

    def _rollouts(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        with sampler_of(trainer, self._settings) as sampler:
            return self._episodes.run(prompts, sampler, visit=int(trainer.state.global_step))


def load_model(model: str) -> Any:
    """The weights, in the type in which they are stored.

    Raises:
        UserError: They cannot be loaded.
    """
    from transformers import AutoModelForCausalLM

    try:
        return AutoModelForCausalLM.from_pretrained(model, dtype="auto")
    except (OSError, ValueError) as error:
        raise UserError(f"no model {model}: {_line(error)}", fix="give a directory or a name of the hub") from error


def grpo_config(settings: GrpoSettings, folder: Path) -> Any:
    """The settings as TRL has them: plain GRPO loss, rewards scaled by group, constant rate, no reports elsewhere."""
    import torch
    from trl import GRPOConfig

    server = {"use_vllm": True, "vllm_mode": "server", "vllm_server_base_url": settings.vllm_url}
    return GRPOConfig(
        output_dir=str(folder),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.micro_batch,
        gradient_accumulation_steps=settings.accumulation,
        steps_per_generation=settings.accumulation,
        num_generations=settings.group,
        max_completion_length=settings.answer_tokens,
        learning_rate=settings.rate,
        lr_scheduler_type="constant",
        temperature=settings.temperature,
        top_p=settings.top_p,
        beta=settings.beta,
        loss_type="grpo",
        scale_rewards="group",
        logging_steps=1,
        save_steps=settings.checkpoint_every,
        save_total_limit=2,
        seed=settings.seed,
        report_to=[],
        disable_tqdm=True,
        bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        use_cpu=not torch.cuda.is_available(),
        **(server if settings.vllm_url is not None else {}),
    )


def _lora(settings: GrpoSettings) -> Any:
    if settings.lora_rank is None:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=settings.lora_rank,
        lora_alpha=2 * settings.lora_rank,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def _step_callback(recorder: Recorder, on_step: Callable[[int, dict[str, Any]], None]) -> Any:
    from transformers import TrainerCallback

    class Steps(TrainerCallback):  # type: ignore[misc, unused-ignore]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs and "loss" in logs:
                recorder.step(int(state.global_step), logs)
                on_step(int(state.global_step), dict(logs))

    return Steps()


def _line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
