from __future__ import annotations

import sys
from pathlib import Path

import pytest

from envs_forge.errors import UserError
from envs_forge.synthesis.registry import GROUP, generator_names, make_generator


def install(folder: Path, value: str) -> None:
    """Lay down the metadata of a package with one generator."""
    info = folder / "toy_generator-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-generator\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\ntoy = {value}\n")
    (folder / "toy_generator.py").write_text(
        "class Toy:\n    name = 'toy'\n    def __init__(self, *, seed):\n        self.seed = seed\n"
    )


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
    assert (made.name, made.seed) == ("toy", 9)  # type: ignore[attr-defined]
    sys.modules.pop("toy_generator")


def test_a_plugin_that_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "toy_generator:Missing")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError, match="cannot be loaded"):
        make_generator("toy")
