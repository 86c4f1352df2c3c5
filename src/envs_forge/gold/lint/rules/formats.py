"""Rules about files: first lines, run bits, left-over files, links, syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envs_forge.bundle.check import SOLUTION, TEST
from envs_forge.bundle.links import find_file, links_of, resolve
from envs_forge.gold.lint.commands import INSTALLERS
from envs_forge.gold.lint.registry import WARNING, Hit, rule
from envs_forge.gold.lint.shell import line, source, walk
from envs_forge.gold.lint.task import Task

_LEFT_OVER = re.compile(
    r"(^|/)(__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.ipynb_checkpoints|\.DS_Store|Thumbs\.db|\.idea|\.vscode)"
    r"(/|$)|\.(pyc|pyo|swp|orig|rej)$|~$"
)
_BASH_ONLY = frozenset({"process_substitution", "array", "herestring_redirect"})
_USUAL_SOURCE = re.compile(r"/(?:activate|\.?env|\.bashrc|\.profile|\.cargo/env|setup\.bash)$")
_NO_BASH = re.compile(r"^(?:docker\.io/)?(?:library/)?(?:alpine|busybox)\b|-alpine[\d.]*$|:alpine")


@rule("missing-shebang", WARNING, "a script without a first line `#!`", fix="begin it with #!/bin/bash")
def missing_shebang(task: Task) -> Iterator[Hit]:
    """Without one the caller's shell decides who runs it."""
    for path in (TEST, SOLUTION):
        text = task.text(path)
        if text and not text.startswith("#!"):
            yield Hit("no interpreter in the first line", path, 1)


@rule("not-executable", WARNING, "a script without a run bit", fix="chmod +x it")
def not_executable(task: Task) -> Iterator[Hit]:
    """Harbor sets the bit itself; people and other readers may not."""
    for path in (TEST, SOLUTION):
        file = find_file(task.bundle.files, path)
        if file is not None and not file.mode & 0o111:
            yield Hit("has no run bit", path)


@rule("no-bash-in-image", WARNING, "a script for bash, an image without it", fix="install bash or write it for sh")
def no_bash(task: Task) -> Iterator[Hit]:
    """Alpine and busybox images have `sh` alone."""
    image = task.image
    if image is None or not image.bases or any("bash" in c.words for c, _ in image.commands):
        return
    base = image.bases[-1]
    if not _NO_BASH.search(base.image):
        return
    for path in (TEST, SOLUTION):
        script = task.scripts.get(path)
        if script is not None and "bash" in script.shebang:
            yield Hit(f"{base.image} has no bash", path, 1)


@rule("bash-in-sh", WARNING, "a script for sh with words of bash", fix="begin it with #!/bin/bash")
def bash_in_sh(task: Task) -> Iterator[Hit]:
    """Where `sh` is dash or busybox, `[[` is no command, and `<(…)`, `<<<` and arrays are errors."""
    for path in (TEST, SOLUTION):
        script = task.scripts.get(path)
        if script is None or not re.search(r"(?:^|[\s/])sh\b", script.shebang):
            continue
        for node in walk(script.root):
            if node.type in _BASH_ONLY or (node.type == "test_command" and source(node).startswith("[[")):
                yield Hit(f"`{source(node)[:40]}` in a script for sh", path, line(node))
                break


@rule("sources-agents-file", WARNING, "the tests source a file of the agent's", fix="run it, or read what it says")
def sources_agents_file(task: Task) -> Iterator[Hit]:
    """Then the agent writes a part of the tests: `exit 0`, a function called `test`, the reward itself."""
    for path, script in task.scripts.items():
        for command in script.commands if path.startswith("tests/") else ():
            target = script.resolve(command.words[1]) if len(command.words) > 1 else ""
            if command.name in ("source", ".") and target.startswith("/app/") and not _USUAL_SOURCE.search(target):
                yield Hit(f"`{command.text[:60]}`", path, command.line)


@rule("shell-syntax", WARNING, "a script that does not look like shell", fix="check it with bash -n")
def shell_syntax(task: Task) -> Iterator[Hit]:
    """The parser knows most of bash, not all of it: hence a warning."""
    for path in (TEST, SOLUTION):
        script = task.scripts.get(path)
        if script is not None and re.search(r"sh\b|^$", script.shebang) and script.broken_at is not None:
            yield Hit("cannot be parsed here", path, script.broken_at)


@rule("python-syntax", WARNING, "a Python test that cannot be parsed", fix="check it with python3 -m py_compile")
def python_syntax(task: Task) -> Iterator[Hit]:
    """It may be written for another version than the one that lints: hence a warning."""
    for path in task.texts("tests/"):
        if re.search(r"(^|/)(test_\w+|\w+_test|conftest)\.py$", path) and path not in task.python_tests:
            yield Hit("cannot be parsed here", path)


@rule("left-over-files", WARNING, "caches and editors' files in the bundle", fix="remove them")
def left_over(task: Task) -> Iterator[Hit]:
    """They leak (a cache of the tests holds the tests) and change the content hash."""
    for path in task.bundle.files:
        if _LEFT_OVER.search(path):
            yield Hit("does not belong into a task", path)


@rule("git-directory", WARNING, "a .git directory in the bundle", fix="make the repository in the Dockerfile")
def git_directory(task: Task) -> Iterator[Hit]:
    """It cannot be committed as it lies, and its history may hold the answer."""
    heads = [path for path in task.bundle.files if re.search(r"(^|/)\.git/HEAD$", path)]
    for path in heads:
        yield Hit("a whole repository: nobody sees what its history holds", path)


@rule("link-crosses-parts", WARNING, "a link from one part of the bundle to another", fix="copy the file")
def link_crosses_parts(task: Task) -> Iterator[Hit]:
    """Only one of `environment/`, `tests/` and `solution/` is there at a time, so the link dangles."""
    links = links_of(task.bundle.files)
    for path in links:
        try:
            end = resolve(path, links)
        except ValueError:
            continue
        if path.split("/")[0] in ("environment", "tests", "solution") and end.split("/")[0] != path.split("/")[0]:
            yield Hit(f"leads to {end}", path)


@rule("user-cannot-install", WARNING, "an image with USER, scripts that need root", fix="do it in the Dockerfile")
def user_cannot_install(task: Task) -> Iterator[Hit]:
    """Package managers of the system need root, and so do chown and writes to /etc."""
    user = task.image.last("USER") if task.image else None
    if user is None or not user.words or user.words[0].split(":")[0] in ("root", "0"):
        return
    config = task.bundle.config
    for path, as_user in ((TEST, config.verifier_user), (SOLUTION, config.agent_user)):
        script = task.scripts.get(path)
        if script is None or as_user in ("root", "0"):
            continue
        needy = [c for c in script.commands if c.name in (INSTALLERS & {"apt", "apt-get", "apk", "yum", "dnf"})]
        for command in needy[:1]:
            yield Hit(f"{command.name} as {user.words[0]}", path, command.line)
