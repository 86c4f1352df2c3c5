import os
import threading
from pathlib import Path

import pytest

from envs_forge.sandbox.forking import settle, start


def test_a_program_just_written_runs_while_other_threads_start_processes(tmp_path: Path) -> None:
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            with start(["true"]) as process:
                process.wait()

    threads = [threading.Thread(target=busy) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(150):
            program = tmp_path / f"program-{number}"
            program.write_text("#!/bin/sh\nexit 0\n")
            os.chmod(program, 0o755)  # noqa: PTH101
            settle()
            with start([str(program)]) as process:
                assert process.wait() == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_what_cannot_be_started_is_said_as_ever(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        start([str(tmp_path / "nothing")])
    settle()
