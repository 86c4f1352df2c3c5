from __future__ import annotations

import sys
from pathlib import Path

import pytest

ELSEWHERE = [*Path("/opt/homebrew/bin").glob("python3.1*"), *Path("/usr/local/bin").glob("python3.1[1-4]")]


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _isolated(tool_dir: Path, tmp_path: Path) -> dict[str, str]:
    return {"PATH": str(tool_dir), "HOME": str(tmp_path), "PYTHON": ""}


def test_takes_the_first_that_works_not_the_first_that_is_there(run, root, tool_dir, tmp_path):
    _program(tool_dir / "python3.12", "#!/bin/sh\necho 'shim: version 3.12 is not installed' >&2; exit 127\n")
    (tool_dir / "python3").symlink_to(sys.executable)
    done = run(root / "scripts/find_python.sh", env=_isolated(tool_dir, tmp_path))
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_file()


def test_an_old_python_is_passed_over(run, root, tool_dir, tmp_path):
    # It answers as an interpreter does whose version check fails.
    _program(tool_dir / "python3.12", "#!/bin/sh\necho /old/python; exit 1\n")
    (tool_dir / "python").symlink_to(sys.executable)
    done = run(root / "scripts/find_python.sh", env=_isolated(tool_dir, tmp_path))
    assert done.returncode == 0
    assert "/old/python" not in done.stdout


def test_looks_where_version_managers_keep_theirs(run, root, tool_dir, tmp_path):
    _program(tmp_path / ".pyenv/versions/3.13.0/bin/python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    done = run(root / "scripts/find_python.sh", env=_isolated(tool_dir, tmp_path))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(bool(ELSEWHERE), reason="this machine has a Python at a fixed place that the script looks at")
def test_says_how_to_get_one_when_there_is_none(run, root, tool_dir, tmp_path):
    done = run(root / "scripts/find_python.sh", env=_isolated(tool_dir, tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    error, fix = done.stderr.splitlines()
    assert "3.11" in error
    assert fix.startswith("  fix: ")


def test_a_wrong_choice_by_the_user_is_an_error_not_a_detour(run, root, tmp_path):
    wrong = tmp_path / "python2"
    _program(wrong, "#!/bin/sh\nexit 1\n")
    done = run(root / "scripts/find_python.sh", env={"PYTHON": str(wrong)})
    assert done.returncode == 2
    assert str(wrong) in done.stderr
