from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from envs_forge.cli import app, status
from envs_forge.cli.console import show_table
from envs_forge.cli.failure import exit_code_of
from envs_forge.errors import InvariantError, UserError

from .conftest import Forge


def test_a_defect_is_one_short_line_and_a_file_with_the_traceback(
    forge: Forge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-value")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def broken(run: str, json_: bool) -> int:
        raise KeyError("sk-very-secret-value\nand a second line")

    monkeypatch.setattr(status.status, "callback", broken)
    said = forge("status")
    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    match = re.fullmatch(r"Error: internal error: KeyError: .* \(please report it; traceback in (.+)\)\n", said.err)
    assert match
    text = Path(match[1]).read_text()
    assert "in broken" in text
    assert "very-secret" not in text + said.err


def test_a_broken_promise_of_ours_is_a_defect(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(InvariantError("1 + 1 is 3")) == 1
    assert "internal error: InvariantError: 1 + 1 is 3 (please report it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("this is wrong", fix="do that"), 2, "Error: this is wrong (do that)\n"),
        (UserError("two\nlines"), 2, "Error: two lines\n"),
        (KeyboardInterrupt(), 130, "Error: interrupted\n"),
        (
            OSError(28, "No space left on device", "/x/y"),
            2,
            "Error: no space left on the disk of /x/y (free some space)\n",
        ),
        (
            OSError(2, "No such file or directory", "/proc/x"),
            2,
            "Error: cannot use /proc/x: No such file or directory (choose another place)\n",
        ),
    ],
)
def test_lines_and_exit_codes(error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(error) == code
    assert capsys.readouterr().err == line


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    code = "import sys; from envs_forge.cli.app import main; sys.exit(main(['run', '--help']))"
    command = f'{sys.executable} -c "{code}" | true'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize("variables", [{"LANG": "C", "LC_ALL": "C"}, {"LANG": "POSIX", "PYTHONIOENCODING": "ascii"}])
def test_help_and_tables_work_in_any_locale(variables: dict[str, str]) -> None:
    code = (
        "import sys; from envs_forge.cli.app import main; from envs_forge.cli.console import show_table\n"
        "code = main(['--help']); show_table(('σ',), [('–',)]); sys.exit(code)"
    )
    env = {"PATH": "/usr/bin:/bin", **variables}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_names_of_strangers_cannot_paint_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(("seed", "n"), [("a\x1b[2Jb", "1")], right=(1,))
    assert capsys.readouterr().out == "seed    n\na?[2Jb  1\n"


def test_every_command_has_a_module_and_help() -> None:
    for name in app.COMMANDS:
        command = app.cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        assert command.name == name
        assert command.help


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from envs_forge.cli.app import main; main(['--help'])\n"
        "heavy = {'docker', 'numpy', 'highspy', 'pydantic', 'rich', 'tomlkit', 'sqlite3', 'requests'}\n"
        "sys.exit(', '.join(sorted(heavy & sys.modules.keys())) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
