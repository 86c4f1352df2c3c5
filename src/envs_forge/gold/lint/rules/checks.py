"""Rules about what the tests check: said in the instruction, and more than that a file exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from envs_forge.bundle.check import TEST
from envs_forge.gold.lint.commands import runs_pytest
from envs_forge.gold.lint.registry import WARNING, Hit, rule
from envs_forge.gold.lint.task import Task

_PATH = re.compile(
    r"(?<![\w./$}:~-])/(?:app|srv|home|root|opt|data|workspace|work|project|repo|code|output|results?|etc|var|mnt)/[\w./@+-]*[\w]"
)
_HELPER = re.compile(r"assert|check|verify|fail|expect|raises|exit", re.IGNORECASE)
_SCRIPT = 256 * 1024
"""Longer texts are data."""
_EXISTENCE = {"exists", "is_file", "is_dir", "isfile", "isdir"}
_AUTHOR = re.compile(
    r"(?<![\w.])/(?:Users|home)/(?!user\b|agent\b|app\b|ubuntu\b|node\b|\w*\$)[a-z][\w.-]*/(?:Desktop|Documents|Downloads|projects?|src|dev|code)\b"
)


@rule(
    "unstated-path",
    WARNING,
    "the tests check a path that the instruction never names",
    fix="name it in the instruction",
)
def unstated_path(task: Task) -> Iterator[Hit]:
    """Neither the path, nor its name, nor a file of the environment says where the result is to go."""
    texts = [text for text in task.texts("environment/").values() if len(text) <= _SCRIPT]
    known = "\n".join([task.instruction, *texts])
    names = {path.rsplit("/", 1)[-1] for path in task.bundle.files if path.startswith("environment/")}
    seen: set[str] = set()
    for path, text in task.texts("tests/").items():
        if not path.endswith((".py", ".sh", ".bats", ".js", ".ts")) or len(text) > _SCRIPT:
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            for found in _PATH.findall(line) if not line.lstrip().startswith("#") else ():
                name = found.rsplit("/", 1)[-1]
                if found not in seen and name not in names and name not in known:
                    yield Hit(f"{found} is not in the instruction", path, number)
                seen.add(found)


@rule("existence-only", WARNING, "the tests check only that files exist", fix="check what the files hold or do")
def existence_only(task: Task) -> Iterator[Hit]:
    """Empty files would pass."""
    asserts = [(path, node) for path, file in task.python_tests.items() for node in file.asserts]
    if asserts and all(_is_existence(node.test) for _, node in asserts):
        path, first = asserts[0]
        yield Hit(f"{len(asserts)} assertions, all of them about existence", path, first.lineno)


def _is_existence(test: ast.expr) -> bool:
    """`x.exists()`, `os.path.isfile(x)` and conjunctions of such."""
    if isinstance(test, ast.BoolOp):
        return all(_is_existence(value) for value in test.values)
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr in _EXISTENCE


@rule("no-assertion", WARNING, "a Python test file without a single check", fix="assert something")
def no_assertion(task: Task) -> Iterator[Hit]:
    """Tests that cannot fail."""
    for path, file in task.python_tests.items():
        tests = [n for n in file.nodes if isinstance(n, ast.FunctionDef) and n.name.startswith("test")]
        helped = any(_HELPER.search(name) for name, _ in file.calls)
        checked = any(isinstance(n, ast.Assert | ast.Raise | ast.With) for n in file.nodes)
        if tests and not helped and not checked:
            yield Hit(f"{len(tests)} tests, no assertion", path, tests[0].lineno)


@rule("pytest-not-installed", WARNING, "the tests call pytest, nothing installs it", fix="install it in the Dockerfile")
def pytest_not_installed(task: Task) -> Iterator[Hit]:
    """Neither the Dockerfile nor the script brings it."""
    if task.image is None or task.test is None or not task.image.is_official:
        return
    if re.search(r"pytest|requirements|pyproject|uv\b", task.image.text):
        return
    calls = [c for c in task.test.commands if runs_pytest(c)]
    installed = re.search(r"install\b.*\bpytest|\buvx?\b|requirements", task.test.text)
    if calls and not installed:
        yield Hit("pytest is not in the image", TEST, calls[0].line)


@rule("path-of-author", WARNING, "a path of somebody's own machine", fix="use the paths of the container")
def path_of_author(task: Task) -> Iterator[Hit]:
    """Such a path exists nowhere else."""
    for path, text in task.texts("tests/", "solution/", "environment/Dockerfile", "instruction.md").items():
        for number, line in enumerate(text.split("\n"), start=1):
            found = _AUTHOR.search(line)
            if found:
                yield Hit(f"{found[0]} exists nowhere else", path, number)


@rule("tests-leave-early", WARNING, "the tests end with status 0 before anything was checked", fix="remove the exit")
def tests_leave_early(task: Task) -> Iterator[Hit]:
    """An unconditional `exit` at the top level with more checks after it."""
    if task.test is None:
        return
    statements = [n for n in task.test.root.named_children if n.type != "comment"]
    for at, node in enumerate(statements[:-1]):
        rest = [n.type for n in statements[at + 1 :]]
        text = (node.text or b"").decode(errors="replace").split()
        if node.type == "command" and text[:1] == ["exit"] and any(kind != "function_definition" for kind in rest):
            yield Hit("nothing after this line runs", TEST, node.start_point.row + 1)
            return
