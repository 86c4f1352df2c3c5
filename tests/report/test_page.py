from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from envs_forge.cli.app import main
from envs_forge.errors import UserError
from envs_forge.report.curves import read_curve
from envs_forge.report.gather import gather
from envs_forge.report.page import write_report
from envs_forge.run.directory import RunDirectory

SECTIONS = ("headline", "rates", "calibration", "actions", "quotas", "funnel", "cost", "environments")
VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """What is on a page; fails on tags that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def page(made: Path, trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("page") / "out.html"
    write_report(target, [gather(RunDirectory(made))], [read_curve(trained)])
    return target


def test_every_section_is_there(page: Path) -> None:
    read = Page(page.read_text())
    assert {f"{name}-1" for name in SECTIONS} | {"learning"} <= set(read.ids)
    assert len(read.ids) == len(set(read.ids))
    assert sum(name.startswith("env-1-") for name in read.ids) == 4


def test_texts_of_bundles_are_only_ever_text(page: Path) -> None:
    read = Page(page.read_text())
    tags = [tag for tag, _ in read.tags]
    assert "script" not in tags
    assert not any(name.startswith("on") for _, attributes in read.tags for name in attributes)
    words = "".join(read.words)
    assert "<script>alert(1)</script>" in words
    assert "{{ 7 * 7 }}" in words


def test_nothing_is_loaded_from_elsewhere(page: Path) -> None:
    links = [
        value or ""
        for _, attributes in Page(page.read_text()).tags
        for name, value in attributes.items()
        if name in ("src", "href")
    ]
    assert links
    assert all(link.startswith(("data:", "#")) for link in links)
    assert not re.search(r"url\(|@import", page.read_text())


def test_pictures_have_words_and_lie_beside_the_page_as_files(page: Path) -> None:
    images = [attributes for tag, attributes in Page(page.read_text()).tags if tag == "img"]
    assert images
    assert all(image["alt"] for image in images)
    files = sorted(path.name for path in page.with_name("out-plots").iterdir())
    assert files == ["learning.svg", "run-actions.svg", "run-pass-rates.svg"]
    assert all("<svg" in path.read_text() for path in page.with_name("out-plots").iterdir())


def test_a_rejection_is_counted_and_shown(page: Path) -> None:
    words = " ".join("".join(Page(page.read_text()).words).split())
    assert re.search(r"\S+/weak-test: 1\b", words)


def test_equal_records_give_equal_pages(made: Path, trained: Path, page: Path, tmp_path: Path) -> None:
    write_report(tmp_path / "out.html", [gather(RunDirectory(made))], [read_curve(trained)])
    assert (tmp_path / "out.html").read_bytes() == page.read_bytes()


def test_a_seed_that_is_gone_is_said_to_be(made: Path, tmp_path: Path) -> None:
    copied = tmp_path / "run"
    shutil.copytree(made, copied)
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps({**config, "seeds": [str(tmp_path / "nowhere")]}))
    write_report(tmp_path / "out.html", [gather(RunDirectory(copied))], [])
    assert "the seed is not where it was" in (tmp_path / "out.html").read_text()


def test_the_command(made: Path, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(made), str(trained), "-o", str(tmp_path / "r.html"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert Path(document["report"]).is_file()
    assert all(Path(path).is_file() for path in document["plots"])


def test_what_is_no_run_is_one_line(tmp_path: Path) -> None:
    assert main(["report", str(tmp_path)]) == 2


def test_damaged_records_of_a_training_are_named(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n')
    with pytest.raises(UserError, match=r"metrics\.jsonl is damaged"):
        read_curve(tmp_path)
