from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envs_forge.errors import UserError
from envs_forge.synthesis.registry import GROUP, generator_names, make_generator

TOY = """
class Toy:
    name = "toy"

    def __init__(self, *, seed):
        self.seed = seed

    def options(self, bundle):
        return {}

    def generate(self, assignment, parent):
        raise RuntimeError(f"seed {self.seed}")
"""


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    sys.modules.pop("toy_generator", None)


def install(folder: Path, value: str, code: str = TOY) -> None:
    """Lay down a package with one generator."""
    info = folder / "toy_generator-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-generator\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\ntoy = {value}\n")
    (folder / "toy_generator.py").write_text(code)


def test_bundled_generator_by_name() -> None:
    assert make_generator("procedural", seed=3).name == "procedural"
    assert "procedural" in generator_names()


def test_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(UserError, match="no generator 'procedual'"):
        make_generator("procedual")


def test_plugins_of_other_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "toy_generator:Toy")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert generator_names() == ("llm", "procedural", "toy")
    made = make_generator("toy", seed=9)
    assert made.name == "toy"
    nothing: Any = None
    with pytest.raises(UserError, match=r"the generator 'toy' \(toy-generator 1.0, toy_generator:Toy\) .*: seed 9"):
        made.generate(nothing, nothing)


@pytest.mark.parametrize(
    ("value", "code", "told"),
    [
        ("toy_generator:Missing", TOY, "cannot be loaded: AttributeError: "),
        ("toy_generator:Toy", "raise RuntimeError('no licence')", "cannot be loaded: RuntimeError: no licence"),
        ("toy_generator:Toy", "import sys; sys.exit(3)", "cannot be loaded: SystemExit: 3"),
        ("toy_generator:Toy", "def Toy(", "cannot be loaded: SyntaxError: "),
        ("toy_generator:Toy", "import not_there_at_all", "cannot be loaded: ModuleNotFoundError: "),
        ("toy_generator:Toy", "Toy = 5", "cannot be made: what it names, of type int, cannot be called"),
        ("toy_generator:Toy", "def Toy(): pass", "cannot be made: TypeError: "),
        ("toy_generator:Toy", "def Toy(seed): raise KeyError('PLUG_HOME')", "cannot be made: KeyError: 'PLUG_HOME'"),
        ("toy_generator:Toy", "def Toy(seed): return None", "is no generator: None has no options()"),
    ],
    ids=range(9),
)
def test_a_plugin_that_gives_no_generator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, code: str, told: str
) -> None:
    install(tmp_path, value, code)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError, match=re.escape(f"(toy-generator 1.0, {value}) {told}")) as caught:
        make_generator("toy")
    assert caught.value.fix == "tell its authors, or choose another --generator"


def test_a_package_without_metadata_is_named_by_its_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "toy_generator:Toy", "Toy = 5")
    (tmp_path / "toy_generator-1.0.dist-info" / "METADATA").unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError, match=r"the generator 'toy' \(.*toy_generator:Toy\) cannot be made"):
        make_generator("toy")
