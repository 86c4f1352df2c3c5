"""The pictures are written, twice each, and the same again."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.study.analysis import analyse
from envs_forge.study.plots import write_plots

from .test_analysis import CONFIG, GAINS, cell

pytest.importorskip("matplotlib")


def test_every_picture_is_there_as_svg_and_png(tmp_path: Path) -> None:
    cells = [cell("weak", number, arm) for number in range(3) for arm in GAINS]
    analysis = analyse(CONFIG, cells)
    files = write_plots(tmp_path / "a" / "study", CONFIG, analysis, cells)
    assert sorted(file.name for file in files) == [
        f"study-{what}{suffix}"
        for what in ("calibration-forge", "gains-saturated", "learning-saturated")
        for suffix in (".png", ".svg")
    ]
    assert all(file.stat().st_size > 1000 for file in files)
    again = write_plots(tmp_path / "b" / "study", CONFIG, analysis, cells)
    assert [file.read_bytes() for file in again] == [file.read_bytes() for file in files]
