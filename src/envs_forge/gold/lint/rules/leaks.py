"""Rules about answers where the agent can see them. What lies in the built image is another stage's matter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envs_forge.bundle.check import DOCKERFILE, SOLUTION, TEST
from envs_forge.bundle.links import find_file
from envs_forge.gold.lint.registry import ERROR, WARNING, Hit, rule
from envs_forge.gold.lint.rules.image import is_copied, is_ignored
from envs_forge.gold.lint.shell import source
from envs_forge.gold.lint.task import Task

_SHORT = 64
"""Files shorter than this many bytes may be equal by chance."""
_SECRETS = re.compile(
    r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}|\bgh[pousr]_[A-Za-z0-9]{36}|\bAKIA[0-9A-Z]{16}\b|\bhf_[A-Za-z0-9]{34}\b"
)


def _in_environment(task: Task, data: bytes) -> Iterator[str]:
    for path, file in task.bundle.files.items():
        if path.startswith("environment/") and file.data == data:
            yield path


@rule("solution-in-environment", ERROR, "the solution is copied into the image", fix="remove it from environment/")
def solution_in_image(task: Task) -> Iterator[Hit]:
    """A file of environment/ is the oracle; an error where the Dockerfile copies it."""
    oracle = find_file(task.bundle.files, SOLUTION)
    if oracle is None or len(oracle.data) < _SHORT:
        return
    for path in _in_environment(task, oracle.data):
        name = path.removeprefix("environment/")
        sure = task.image is not None and is_copied(task.image, name) and not is_ignored(task, name)
        yield Hit("is the same as solution/solve.sh", path, severity=None if sure else WARNING)


@rule("tests-in-environment", WARNING, "a test is copied into the image", fix="keep it under tests/ alone")
def tests_in_image(task: Task) -> Iterator[Hit]:
    """Right where the agent is given the tests on purpose; then the tests need input that it has not seen."""
    for path, file in task.bundle.files.items():
        is_test = path == TEST or re.search(r"(^|/)(test_\w+|\w+_test)\.\w+$", path)
        if path.startswith("tests/") and is_test and len(file.data) >= _SHORT:
            for copy in _in_environment(task, file.data):
                yield Hit(f"is the same as {path}", copy)


@rule("image-uses-reserved-paths", WARNING, "the image makes /tests or /solution", fix="choose another directory")
def reserved_paths(task: Task) -> Iterator[Hit]:
    """Both appear for verification and for the oracle alone; what the image holds there mixes with them."""
    for step in task.image.steps if task.image else ():
        if step.keyword in ("COPY", "ADD", "RUN", "WORKDIR") and re.search(
            r"(?<![\w./$}])/(?:tests|solution)(?![\w.-])", step.text
        ):
            yield Hit(f"{step.keyword} uses /tests or /solution", DOCKERFILE, step.line)


@rule(
    "instruction-names-tests", WARNING, "the instruction speaks of /tests, /solution or the reward", fix="leave it out"
)
def instruction_names_tests(task: Task) -> Iterator[Hit]:
    """The agent does not see them and should not look for them."""
    for number, text in enumerate(task.instruction.split("\n"), start=1):
        found = re.search(r"(?<![\w.])/(?:tests|solution|logs/verifier)\b[\w/.-]*|\breward\.(?:txt|json)\b", text)
        if found:
            yield Hit(f"names {found[0]}", "instruction.md", number)


@rule("answer-in-instruction", WARNING, "the instruction holds commands of the solution", fix="say what, not how")
def answer_in_instruction(task: Task) -> Iterator[Hit]:
    """Three commands in a row that are the oracle's own, each a line of the instruction and too long for chance."""
    lines = {" ".join(line.strip(" `$>").split()) for line in task.instruction.split("\n")}
    run: list[int] = []
    for command in task.solution.commands if task.solution else ():
        words = " ".join(source(command.node).split())
        run = [*run, command.line] if len(words) >= 12 and words in lines else []
        if len(run) == 3:
            yield Hit(f"commands of solve.sh, lines {run[0]} to {run[-1]}, are in the instruction", "instruction.md")
            return


@rule("solution-writes-reward", ERROR, "the solution touches the reward", fix="let the tests alone write it")
def solution_writes_reward(task: Task) -> Iterator[Hit]:
    """An oracle that pays itself proves nothing."""
    script = task.solution
    if script is None:
        return
    for number, text in enumerate(script.text.split("\n"), start=1):
        if re.search(r">>?\s*[\"']?/logs/verifier/reward\.(?:txt|json)\b", text) and not text.lstrip().startswith("#"):
            yield Hit("writes the reward", SOLUTION, number)


@rule("solution-reads-tests", WARNING, "the solution reads /tests", fix="compute the answer")
def solution_reads_tests(task: Task) -> Iterator[Hit]:
    """The tests are not there when the oracle runs, and reading the truth is no solution."""
    for command in task.solution.commands if task.solution else ():
        if any(re.match(r"/tests(/|$)", word) for word in command.words):
            yield Hit(f"{command.name} reads /tests", SOLUTION, command.line)


@rule("secret-in-bundle", WARNING, "something that looks like a key", fix="remove and revoke it, unless it is made up")
def secret_in_bundle(task: Task) -> Iterator[Hit]:
    """Shown by its first characters only."""
    for path in task.bundle.files:
        for number, text in enumerate(task.text(path).split("\n"), start=1):
            found = _SECRETS.search(text)
            if found:
                yield Hit(f"{found[0][:8]}… looks like a key", path, number)
