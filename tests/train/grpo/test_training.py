"""A few real steps: a tiny random model, real sandboxes, a real gradient, a checkpoint that loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from envs_forge.cli.app import main
from envs_forge.errors import UserError
from envs_forge.run.finetuning import FinetuningConfig, finetune
from envs_forge.run.seeds import load_seeds, select_paths
from envs_forge.train.grpo.settings import GrpoSettings

from .samples import chance, named, silent, write

pytestmark = pytest.mark.engine
SHORT = {"group": 4, "turns": 1, "answer_tokens": 8, "context_tokens": 4000, "rate": 1e-2, "checkpoint_every": 1}


def config(model: Path, **settings: Any) -> FinetuningConfig:
    return FinetuningConfig(model=str(model), settings=GrpoSettings(**{**SHORT, **settings}), oracles=1)


def train(root: Path, tasks: Path, wanted: FinetuningConfig) -> list[str]:
    root.mkdir(exist_ok=True)
    said: list[str] = []
    assert finetune(root, wanted, load_seeds(select_paths([tasks])), say=said.append) == wanted.settings.steps
    return said


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return AutoModelForCausalLM.from_pretrained(folder).state_dict()


def lines(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("tasks"), chance("one"), chance("two", "Make the file `/app/solved` exist.\n"))


def test_two_steps_move_the_model_and_leave_a_checkpoint_that_is_gone_on_with(
    model: Path, tasks: Path, tmp_path: Path
) -> None:
    said = train(tmp_path / "t", tasks, config(model, steps=1))
    assert any(line.startswith("oracle of") for line in said)
    train(tmp_path / "t", tasks, config(model, steps=2))
    steps = lines(tmp_path / "t")
    assert [line["step"] for line in steps] == [1, 2]
    assert all(line["mixed"] == 1 and line["grad_norm"] > 0 for line in steps)
    assert all(line["sampled_tokens"] <= 4 * 8 < line["tokens"] for line in steps)
    before, after = weights(model), weights(tmp_path / "t" / "model")
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert weights(tmp_path / "t" / "checkpoints" / "checkpoint-2").keys() == before.keys()
    assert AutoTokenizer.from_pretrained(tmp_path / "t" / "model").chat_template
    episodes = [json.loads(line) for line in (tmp_path / "t" / "episodes.jsonl").read_text().splitlines()]
    assert len(episodes) == 8
    assert all(0 <= episode["reward"] < 1 for episode in episodes)


@pytest.mark.slow
def test_adapters_are_trained_and_the_model_under_them_is_not(model: Path, tasks: Path, tmp_path: Path) -> None:
    train(tmp_path / "t", tasks, config(model, steps=1, lora_rank=2))
    assert (tmp_path / "t" / "model" / "adapter_model.safetensors").is_file()


@pytest.mark.slow
def test_a_group_that_is_dropped_moves_nothing(model: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "tasks", silent())
    wanted = config(model, steps=1, retries=0).model_copy(update={"oracles": 0})
    train(tmp_path / "t", folder, wanted)
    before, after = weights(model), weights(tmp_path / "t" / "model")
    assert lines(tmp_path / "t")[0]["dropped"] == 1
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_an_oracle_that_fails_here_ends_it_before_the_model_is_loaded(model: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "tasks", silent())
    with pytest.raises(UserError, match="oracle of silent does not pass here"):
        train(tmp_path / "t", folder, config(model, steps=1))
    assert not list((tmp_path / "t").iterdir())


def test_a_held_out_task_is_refused(model: Path, tmp_path: Path) -> None:
    text = " ".join(f"word{number}" for number in range(60))
    folder = write(tmp_path / "tasks", named(chance(), "copied", f"Create `/app/solved`. {text}\n"))
    held_out = write(tmp_path / "held", named(chance(), "original", f"Create `/app/solved`. {text}\n"))
    with pytest.raises(UserError, match=r"overlap with the evaluation: copied.*original"):
        train(tmp_path / "t", folder, config(model).model_copy(update={"held_out": (str(held_out),)}))


@pytest.mark.slow
def test_what_is_too_long_is_left_out_and_listed(model: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "tasks", chance("short"), chance("long", "word " * 900))
    said = train(tmp_path / "t", folder, config(model, steps=1))
    assert any("left out, its prompt is too long: long" in line for line in said)
    assert json.loads((tmp_path / "t" / "preflight.json").read_text())["too_long"].keys() == {"long"}


@pytest.mark.slow
def test_another_training_in_the_same_place_is_refused(model: Path, tasks: Path, tmp_path: Path) -> None:
    train(tmp_path / "t", tasks, config(model, steps=1))
    with pytest.raises(UserError, match=r"begun otherwise: settings\.rate"):
        train(tmp_path / "t", tasks, config(model, steps=1, rate=1.0))


def test_the_command(model: Path, tasks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("".join(f"{key} = {value}\n" for key, value in SHORT.items()))
    command = ["train", "-p", str(tasks), "-m", str(model), "-c", str(settings), "--steps", "1"]
    assert main([*command, "-o", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 1
