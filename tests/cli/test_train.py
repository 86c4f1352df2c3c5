from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from envs_forge.report import plots
from envs_forge.run.training import Training
from envs_forge.train.builtin.result import TrainingResult
from train.builtin.truth import SEEDS, obtain

from .conftest import Forge

POOL = ("-p", str(SEEDS), "-l", "4", "--batch", "2")
SVG = "http://www.w3.org/2000/svg"


@pytest.fixture(autouse=True)
def truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewards without containers."""

    def run(self: Training) -> TrainingResult:
        return self.run_with(obtain)

    monkeypatch.setattr(Training, "run", run)


def test_a_training_says_what_it_learned_and_what_is_next(forge: Forge, here: Path) -> None:
    said = forge("train", *POOL, "--epochs", "2", "-o", "mine")
    assert said.code == 0, said.err
    first, groups, rollouts, following = said.out.splitlines()
    assert first.startswith("mean reward by pass over the tasks: ")
    assert groups.startswith("8 groups: ")
    assert rollouts.startswith("64 rollouts in 4 steps, ")
    assert following == "next: envs-forge evaluate -p TASKS --policy builtin:mine/parameters.json"
    assert "step 4/4" in said.err
    assert (here / "mine" / "parameters.json").is_file()


def test_as_json_and_again(forge: Forge, here: Path) -> None:
    first = forge("train", *POOL, "-q", "--json")
    again = forge("train", *POOL, "-q", "--json")
    assert (first.code, first.err) == (0, "")
    assert again.json == first.json
    assert first.json["training"] == str(here / "trained")


def test_a_trained_policy_is_trained_further_elsewhere(forge: Forge, here: Path) -> None:
    forge("train", *POOL, "-q")
    said = forge("train", *POOL, "-q", "--policy", "builtin:trained/parameters.json", "-o", "further", "--json")
    assert (said.code, said.json["steps"]) == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--policy", "oracle"), "only the builtin policy"),
        (("--policy", "builtin:none.json"), "none.json"),
        (("--rate", "0"), "--rate"),
        (("--group", "1"), "--group"),
        (("-i", "no-such-*"), "-i and -x"),
    ],
)
def test_mistakes_are_one_line(forge: Forge, here: Path, arguments: tuple[str, ...], word: str) -> None:
    said = forge("train", *POOL, *arguments)
    assert (said.code, said.out) == (2, "")
    assert word in said.err
    assert "Traceback" not in said.err
    assert not (here / "trained").exists()


def test_a_file_in_the_place_of_the_directory_is_one_line(forge: Forge, here: Path) -> None:
    (here / "file").touch()
    for place in ("file", "file/below"):
        said = forge("train", *POOL, "-o", place)
        assert (said.code, said.err.count("\n")) == (2, 1)
        assert "-o" in said.err


def test_a_mistake_leaves_a_directory_that_was_there(forge: Forge, here: Path) -> None:
    (here / "mine").mkdir()
    assert forge("train", *POOL, "--policy", "builtin:none.json", "-o", "mine").code == 2
    assert (here / "mine").is_dir()


def test_the_metrics_are_drawn(forge: Forge, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert forge("train", *POOL, "-q", "--epochs", "2").code == 0
    reward, mixed = ((here / "trained" / name).read_text() for name in ("reward.svg", "mixed.svg"))
    assert [ElementTree.fromstring(picture).tag for picture in (reward, mixed)] == [f"{{{SVG}}}svg"] * 2
    assert reward != mixed
    monkeypatch.setattr(plots, "can_plot", lambda: False)
    assert forge("train", *POOL, "-q", "-o", "plain").code == 0
    assert not list((here / "plain").glob("*.svg"))


def test_another_training_in_its_place_is_refused(forge: Forge) -> None:
    forge("train", *POOL, "-q")
    said = forge("train", *POOL, "-q", "--seed", "1")
    assert said.code == 2
    assert "learner.seed" in said.err
