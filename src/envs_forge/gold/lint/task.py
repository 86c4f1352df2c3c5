"""A bundle as the rules see it: parsed once, on demand."""

from __future__ import annotations

import re
from functools import cached_property

from envs_forge.bundle.check import DOCKERFILE, SOLUTION, TEST
from envs_forge.bundle.config import FILE, toml_table
from envs_forge.bundle.links import find_file
from envs_forge.bundle.model import Bundle
from envs_forge.gold.lint.commands import INTERPRETERS, is_known, runs_pytest
from envs_forge.gold.lint.flow import Flow
from envs_forge.gold.lint.image import ImageFile
from envs_forge.gold.lint.python import PythonFile
from envs_forge.gold.lint.shell import Command, Script
from envs_forge.gold.lint.walker import ScriptTooLargeError, reward_flow

MAX_TEXT = 1024 * 1024
"""Files longer than this are data, not text to lint."""


class Task:
    """A bundle with its texts, scripts and image file parsed."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    def text(self, path: str) -> str:
        """A file as text with LF line ends; empty when it is missing, too long or binary."""
        file = find_file(self.bundle.files, path)
        if file is None or len(file.data) > MAX_TEXT or b"\0" in file.data:
            return ""
        return file.data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")

    def texts(self, *prefixes: str) -> dict[str, str]:
        """Path → text of every text file below the prefixes."""
        found = {path: self.text(path) for path in sorted(self.bundle.files) if path.startswith(prefixes)}
        return {path: text for path, text in found.items() if text}

    @cached_property
    def instruction(self) -> str:
        """What the agent is told."""
        return self.bundle.instruction

    @cached_property
    def toml(self) -> dict[str, object]:
        """`task.toml` as Python values."""
        return toml_table(self.bundle.files[FILE].data)

    @cached_property
    def toml_text(self) -> str:
        """`task.toml` as text."""
        return self.text(FILE)

    @cached_property
    def scripts(self) -> dict[str, Script]:
        """Path → shell script of the tests and the solution."""
        texts = self.texts("tests/", "solution/")
        return {path: Script(path, text) for path, text in texts.items() if _is_shell(path, text)}

    @property
    def test(self) -> Script | None:
        """`tests/test.sh`."""
        return self.scripts.get(TEST)

    @property
    def solution(self) -> Script | None:
        """`solution/solve.sh`."""
        return self.scripts.get(SOLUTION)

    @cached_property
    def python_tests(self) -> dict[str, PythonFile]:
        """Path → Python files of the tests that this Python can parse."""
        parsed = {path: PythonFile.parse(t) for path, t in self.texts("tests/").items() if path.endswith(".py")}
        return {path: file for path, file in parsed.items() if file is not None}

    @cached_property
    def image(self) -> ImageFile | None:
        """`environment/Dockerfile`, None when there is none or it cannot be parsed."""
        text = self.text(DOCKERFILE)
        return ImageFile.parse(text) if text.strip() else None

    @cached_property
    def flow(self) -> Flow | None:
        """Which rewards `tests/test.sh` can leave; None when it cannot be followed."""
        if self.test is None or self.test.broken_at is not None or not speaks_shell(self.test):
            return None
        try:
            return reward_flow(self.test, self.may_write_reward)
        except ScriptTooLargeError:
            return None

    @cached_property
    def reward_writers(self) -> tuple[str, ...]:
        """Other files than `tests/test.sh` that speak of a reward."""
        texts = self.texts("tests/", "environment/")
        return tuple(path for path, text in texts.items() if path != TEST and "reward" in text.lower())

    def may_write_reward(self, command: Command) -> bool:
        """Whether a command of the test script may write the reward itself."""
        if not is_known(command) and not self._is_plain_image:
            return True
        names = {path.rsplit("/", 1)[-1] for path in self.reward_writers}
        if any(name in word or name.split(".")[0] == word for name in names for word in command.words):
            return True
        tests = any(path.startswith("tests/") for path in self.reward_writers)
        return tests and (runs_pytest(command) or (command.name in INTERPRETERS and "-m" in command.words))

    @cached_property
    def _is_plain_image(self) -> bool:
        """Built from an official image, of which one knows that it holds no tests of its own."""
        return self.image is not None and self.image.is_official


def speaks_shell(script: Script) -> bool:
    """Whether the interpreter in the first line is a shell, or there is none."""
    return not script.shebang or re.search(r"\b(?:ba|da|k|z|a)?sh\b", script.shebang) is not None


def _is_shell(path: str, text: str) -> bool:
    if path.endswith((".sh", ".bash")):
        return True
    return "." not in path.rsplit("/", 1)[-1] and re.match(r"#!.*\b(?:ba|da)?sh\b", text) is not None
