"""An export read by TRL's own loader of Harbor tasks, which needs no Harbor to read."""

from __future__ import annotations

from pathlib import Path

from trl.experimental.harbor import HarborSpec

from .samples import chance, write


def test_trl_reads_an_export_as_it_is(tmp_path: Path) -> None:
    write(tmp_path / "export" / "tasks", chance("000-reduce-one"), chance("001-increase-two"))
    spec = HarborSpec(str(tmp_path / "export"))
    rows = spec.train_dataset
    assert [Path(place).name for place in rows["task_dir"]] == ["000-reduce-one", "001-increase-two"]
    assert all((Path(place) / "instruction.md").is_file() for place in rows["task_dir"])
    assert callable(spec.environment_factory)
