"""Conducts a training of a language model: its config from file and flags, signals, what is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from envs_forge.cli.conduct import shown
from envs_forge.config import read_toml
from envs_forge.errors import UserError
from envs_forge.run.finetuning import FinetuningConfig, finetune
from envs_forge.run.seeds import Seed
from envs_forge.train.grpo.settings import GrpoSettings


def grpo_settings(file: str | None, flags: Mapping[str, Any]) -> GrpoSettings:
    """Settings of a TOML file with flags laid over it.

    Raises:
        UserError: One line that names every wrong key.
    """
    table = {**(read_toml(Path(file)) if file is not None else {}), **flags}
    try:
        settings = GrpoSettings.model_validate(table)
        settings.accumulation  # noqa: B018 - checks that it divides
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise UserError(f"{file or 'the command line'}: {faults}") from error
    except ValueError as error:
        raise UserError(str(error), fix="change micro_batch, group or batch") from error
    return settings


def conduct_finetuning(
    root: Path, config: FinetuningConfig, seeds: Sequence[Seed], *, say: Callable[[str], None]
) -> dict[str, Any]:
    """Train; what it came to.

    Raises:
        UserError: Something that was found before the model was loaded.
        KeyboardInterrupt: Ctrl-C; the same command goes on from the newest checkpoint.
    """
    _calm()

    def on_step(step: int, logs: Mapping[str, Any]) -> None:
        say(f"step {step}/{config.settings.steps} · mean reward {logs.get('reward', float('nan')):.3f}"
            f" · groups without a gradient {logs.get('frac_reward_zero_std', float('nan')):.0%}"
            f" · gradient {logs.get('grad_norm', float('nan')):.3g} · {logs.get('step_time', 0.0):.0f} s")  # fmt: skip

    steps = finetune(root, config, seeds, say=say, on_step=on_step)
    return {"training": str(root), "steps": steps, "model": str(root / "model"), "shown": shown(root)}


def _calm() -> None:
    """Silence what the training libraries say of themselves; our own lines say what happens."""
    import logging
    import os
    import warnings

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    logging.getLogger("transformers").setLevel(logging.ERROR)
