"""`run-tests.sh` and `solution.*` → the scripts that Harbor calls."""

from __future__ import annotations

import math
import shlex
from typing import Any

from envs_forge.bundle.model import BundleFile

RUN_TESTS = "run-tests.sh"
DEFAULT_RUN_TESTS = b"""\
#!/bin/bash
python3 -m pytest "$TEST_DIR/test_outputs.py" -rA
"""
SHARED = {
    "setup-uv-pytest.sh": b"""\
#!/bin/bash
# Stands in for a script that Terminal-Bench keeps beside its tasks: uv and pytest, unless pytest is there.
if ! python3 -c 'import pytest' 2> /dev/null && ! command -v uv > /dev/null; then
    apt-get update && apt-get install -y curl
    curl -LsSf https://astral.sh/uv/0.7.13/install.sh | sh
    source "$HOME/.local/bin/env"
    uv init
    uv add pytest==8.4.1
fi
""",
    "run-uv-pytest.sh": b"""\
#!/bin/bash
# Stands in for a script that Terminal-Bench keeps beside its tasks.
if python3 -c 'import pytest' 2> /dev/null; then
    python3 -m pytest "$TEST_DIR/test_outputs.py" -rA
else
    uv run pytest "$TEST_DIR/test_outputs.py" -rA
fi
""",
}
_HEAD = """\
#!/bin/bash
# Runs the task's own run-tests.sh and says as a reward what its parser would have said.

export TEST_DIR=/tests
output=$(mktemp)
bash /tests/run-tests.sh > "$output" 2>&1 < /dev/null
status=$?
cat "$output"
"""
_PYTEST = r"""
# pytest: the lines of the short summary. Without a summary (pytest without -rA) the last line and the status decide.
reward=$(tr -d '\r' < "$output" | sed 's/\x1b\[[0-9;]*m//g' | awk -v status="$status" '
    tolower($0) ~ /=+ *short test summary info *=+/ { summary = 1; next }
    summary && /^(PASSED|XFAIL):? +[^ ]/ { passed++ }
    summary && /^(FAILED|ERROR|XPASS):? +[^ ]/ { failed++ }
    /[0-9]+ passed/ { said = 1 }
    /[0-9]+ (failed|error)/ { failed++ }
    END { print ((passed > 0 || (!summary && said && status == 0)) && failed == 0) ? 1 : 0 }
')
"""
_SWEBENCH = r"""
# swebench: what stands between its two marks.
verdict=$(tr -d '\r' < "$output" | awk '
    /SWEBench results ends here/ { inside = 0 }
    inside && NF { text = text $0 }
    /SWEBench results starts here/ { inside = 1; text = "" }
    END { print text }
')
reward=0
[ "$verdict" = PASSED ] && reward=1
"""
_TAIL = """
mkdir -p /logs/verifier
echo "$reward" > /logs/verifier/reward.txt
"""
_OTHER = """
reward=0
"""


def test_sh(parser: str) -> BundleFile:
    """The script that Harbor calls, for one of the parsers."""
    middle = {"pytest": _PYTEST, "swebench": _SWEBENCH}.get(parser, _OTHER)
    return BundleFile(data=(_HEAD + middle + _TAIL).encode(), mode=0o755)


def solve_sh(data: bytes) -> BundleFile:
    """`solution.sh`, which is called with bash whatever its first line."""
    if not data.startswith(b"#!"):
        data = b"#!/bin/bash\n" + data
    return BundleFile(data=data, mode=0o755)


def solve_from_keystrokes(data: bytes) -> BundleFile | None:
    """`solution.yaml`, a list of what is typed into a shell.

    Returns:
        A script of the same commands in one shell, or None when something is typed that is not a command line.
    """
    import yaml

    try:
        commands = yaml.safe_load(data.decode("utf-8-sig"))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    lines = ["#!/bin/bash"]
    for item in commands if isinstance(commands, list) else [None]:
        line = _line(item)
        if line is None:
            return None
        lines.append(line)
    return BundleFile(data=("\n".join(lines) + "\n").encode(), mode=0o755)


def _line(item: Any) -> str | None:
    if not isinstance(item, dict) or not isinstance(item.get("command"), str) or item.get("append_enter") is False:
        return None
    wait = item.get("min_timeout_sec")
    pause = isinstance(wait, int | float) and not item.get("block") and math.isfinite(wait) and wait > 0
    command: str = item["command"]
    return command.rstrip("\n") + (f"\nsleep {shlex.quote(str(wait))}" if pause else "")


test_sh.__test__ = False  # type: ignore[attr-defined]
