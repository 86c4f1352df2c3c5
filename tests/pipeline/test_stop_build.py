from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from run.test_seeds import task
from waiting import command_lines, wait_until

CODE = "import sys; from envs_forge.cli.app import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.engine
@pytest.mark.parametrize("command", [["measure"], ["verify", "--stages", "build"]], ids=["measure", "verify"])
def test_ctrl_c_does_not_wait_for_a_build(tmp_path: Path, command: list[str]) -> None:
    place = task(tmp_path / "pool", "slow")
    step = f"sleep {200 + os.getpid() % 100}.{time.time_ns()}"
    (place / "environment" / "Dockerfile").write_text(f"FROM ubuntu:24.04\nRUN {step}\n")
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *command, "-p", "pool"], cwd=tmp_path, text=True, stderr=subprocess.PIPE
    )
    wait_until(lambda: any(step in line for line in command_lines()), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
