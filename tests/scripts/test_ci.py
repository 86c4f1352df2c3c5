"""`.ci/run` around a `make test` that says what pytest says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scripts.conftest import run_script

ROOT = Path(__file__).resolve().parents[2]
CLOSING = "=== 3 passed, 1 skipped in 0.12s ==="
MAKEFILE = """test:
\t@echo "collected 4 items"
\t@echo "{closing}"
\t@echo "a line after it" >&2
\t@exit {code}
"""


@pytest.mark.parametrize(("code", "closing"), [(0, CLOSING), (1, "==== 1 failed, 2 passed in 1.02s ====")])
def test_ends_with_pytests_line_and_make_tests_code(tmp_path, code, closing):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / "Makefile").write_text(MAKEFILE.format(closing=closing, code=code))
    # An engine directory of its own: whatever engine runs here is then not one that this run could have started.
    env = {"CI": "true", "ENVS_FORGE_ENGINE_DIR": str(tmp_path / "engine"), "PYTEST_ADDOPTS": ""}
    done = run_script("bash", tmp_path / ".ci/run", env=env)
    assert (done.returncode != 0) == (code != 0)
    assert done.stdout.splitlines()[-1] == closing
