"""The page in a real browser, at the width of a desk and of a phone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from envs_forge.report.curves import read_curve
from envs_forge.report.gather import gather
from envs_forge.report.page import write_report
from envs_forge.run.directory import RunDirectory

from .test_page import SECTIONS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr", "--hide-scrollbars",
)  # fmt: skip

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; install the package chromium")


@pytest.fixture(scope="module")
def page(made: Path, trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("page") / "out.html"
    write_report(target, [gather(RunDirectory(made))], [read_curve(trained)])
    return target


def browse(page: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(CHROMIUM), *QUIET, f"--user-data-dir={folder / 'profile'}", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def complaints(shown: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in shown.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_shown_without_a_complaint(page: Path, tmp_path: Path, width: int) -> None:
    picture = tmp_path / "shot.png"
    shown = browse(page, tmp_path, f"--window-size={width},2400", f"--screenshot={picture}")
    assert complaints(shown) == []
    assert picture.stat().st_size > 20_000  # a blank page is a few kilobytes


def test_no_section_is_missing_in_what_the_browser_made_of_it(page: Path, tmp_path: Path) -> None:
    dom = browse(page, tmp_path, "--dump-dom").stdout
    assert [name for name in SECTIONS if f'id="{name}-1"' not in dom] == []
    assert "<script>alert" not in dom


def test_a_complaint_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text("<!doctype html><title>x</title><script>console.error('broken')</script>")
    assert complaints(browse(page, tmp_path, "--dump-dom"))
