from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import make_bundle, read_bundle
from envs_forge.errors import InvariantError, UserError
from envs_forge.export.tasks import IndexLine, write_export

from .samples import line_of


def environment(name: str, text: str = "Do it.\n", **changes: object) -> tuple[Bundle, IndexLine]:
    files = {"instruction.md": BundleFile(data=text.encode()), "task.toml": BundleFile(data=b"")}
    bundle = make_bundle(name, files)
    return bundle, line_of(bundle).model_copy(update=changes)


def test_an_export_is_tasks_and_one_line_each(tmp_path: Path) -> None:
    pairs = [environment("b"), environment("a", "Do another.\n")]
    assert write_export(tmp_path / "export", pairs) == 2
    assert sorted(p.name for p in (tmp_path / "export").iterdir()) == ["index.jsonl", "tasks"]
    lines = [json.loads(line) for line in (tmp_path / "export" / "index.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["b", "a"]
    for line in lines:
        assert content_hash(read_bundle(tmp_path / "export" / line["path"])) == line["content_hash"]
        assert line["split"] == "train"


def test_an_earlier_export_gives_way_as_a_whole(tmp_path: Path) -> None:
    write_export(tmp_path / "export", [environment("old")])
    write_export(tmp_path / "export", [environment("new")])
    assert [p.name for p in (tmp_path / "export" / "tasks").iterdir()] == ["new"]
    assert [p.name for p in tmp_path.iterdir()] == ["export"]


def test_a_directory_that_is_no_export_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").touch()
    with pytest.raises(UserError, match="exists and is no export"):
        write_export(tmp_path / "home", [environment("a")])
    assert (tmp_path / "home" / "thesis.tex").exists()


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([environment("a"), environment("a")], "the same id: a"),
        ([environment("a", content_hash="0" * 64)], "not the bundle that was accepted"),
        ([environment("a", path="tasks/b")], "the index calls a a at tasks/b"),
    ],
)
def test_an_export_that_contradicts_itself_is_refused_and_leaves_the_old_one(
    tmp_path: Path, pairs: list[tuple[Bundle, IndexLine]], message: str
) -> None:
    write_export(tmp_path / "export", [environment("old")])
    with pytest.raises(InvariantError, match=message):
        write_export(tmp_path / "export", pairs)
    assert [p.name for p in (tmp_path / "export" / "tasks").iterdir()] == ["old"]
