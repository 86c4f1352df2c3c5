"""Rules about results that change with the day, the network, chance or the machine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from envs_forge.bundle.check import DOCKERFILE, SOLUTION
from envs_forge.gold.lint.python import written
from envs_forge.gold.lint.registry import WARNING, Hit, rule
from envs_forge.gold.lint.shell import Command
from envs_forge.gold.lint.task import Task

_LOCAL = re.compile(r"localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|--unix-socket|\$|https?://[\w-]+(?:[:/\s]|$)")
"""Signs of the machine itself, or of a container beside it: a name without a dot."""
_FETCHERS = {"requests", "urllib", "httpx", "aiohttp", "urlopen"}
_CLOCKS = {"now", "utcnow", "today", "localtime", "gmtime", "ctime"}
_TAKES_VALUE = re.compile(
    r"-[rciefti]|--(?:requirement|constraint|index-url|extra-index-url|target|find-links|prefix|root|python|timeout|"
    r"retries|trusted-host|registry)"
)
_DATE = re.compile(r"\b20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b|\bdate(?:time)?\(\s*20\d\d\b")


def _downloads(command: Command) -> bool:
    """Whether a command needs the network to say more than its own version."""
    words, name = command.words, command.name
    if name in ("curl", "wget"):
        return not _LOCAL.search(command.text)
    if name in ("apt", "apt-get", "apk", "yum", "dnf"):
        return bool({"update", "install", "add", "upgrade"} & set(words))
    if name in ("pip", "pip3", "uv", "npm", "yarn", "pnpm", "gem", "cargo", "go") or "pip" in words[1:3]:
        offline = {"--no-index", "--offline"} & set(words)
        return bool({"install", "add", "ci", "sync"} & set(words)) and not offline
    return name in ("uvx", "npx", "pipx") or (name == "git" and bool({"clone", "fetch", "pull"} & set(words[1:3])))


@rule("network-in-tests", WARNING, "the tests fetch something", fix="install it in the Dockerfile")
def network_in_tests(task: Task) -> Iterator[Hit]:
    """A test that cannot fetch its tool fails, and a failure of the network reads as one of the agent."""
    for path, script in task.scripts.items():
        if path.startswith("tests/"):
            for command in script.commands:
                if _downloads(command):
                    yield Hit(f"`{command.text[:60]}`", path, command.line)
    for path, file in task.python_tests.items():
        for name, call in file.calls:
            if _fetches(name, call):
                yield Hit(f"`{written(call)[:60]}`", path, call.lineno)


def _fetches(name: str, call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    address = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    remote = address.startswith(("http://", "https://")) and not _LOCAL.search(address)
    return remote and any(part in _FETCHERS for part in name.split("."))


@rule(
    "network-in-solution",
    WARNING,
    "the solution fetches something in a task without a network",
    fix="set network_mode, or install it in the image",
)
def network_in_solution(task: Task) -> Iterator[Hit]:
    """It cannot succeed there, unless it goes on without."""
    if task.bundle.config.environment.network or task.solution is None:
        return
    for command in task.solution.commands:
        if _downloads(command):
            yield Hit(f"`{command.text[:60]}` without a network", SOLUTION, command.line)


@rule("unpinned-package", WARNING, "a package without a version", fix="name the version: pytest==8.3.5")
def unpinned_package(task: Task) -> Iterator[Hit]:
    """Packages of pip, uv, npm and gem; those of a pinned distribution are pinned enough."""
    places = [(c, path, c.line) for path, script in task.scripts.items() for c in script.commands]
    if task.image is not None:
        places += [(c, DOCKERFILE, line) for c, line in task.image.commands]
    for command, path, line in places:
        for package in _packages(command):
            if not re.search(r"==|@|~=|<|>|:|^[./$-]|\.(whl|gz|txt)$|/", package):
                yield Hit(f"{package} has no version", path, line)
    yield from _requirements(task, [command.text for command, _, _ in places])


def _requirements(task: Task, commands: list[str]) -> Iterator[Hit]:
    """Lines without any version in requirements files that some command installs."""
    for path, text in task.texts("environment/", "tests/").items():
        name = path.rsplit("/", 1)[-1]
        wanted = re.compile(rf"(?:-r|--requirement)[ =]?\S*{re.escape(name)}(?:\s|$)")
        if not name.endswith(".txt") or not any("install" in said and wanted.search(said) for said in commands):
            continue
        for number, line in enumerate(text.split("\n"), start=1):
            if re.fullmatch(r"[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?\s*(?:#.*)?", line.strip()):
                yield Hit(f"{line.split('#')[0].strip()} has no version", path, number)


def _packages(command: Command) -> list[str]:
    """What a command installs by name."""
    names = [word.rsplit("/", 1)[-1] for word in command.words]
    words = list(command.words)
    if names[:1] == ["uvx"]:
        return [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-w", "--with", "--from")]
    if "install" not in names or not {"pip", "pip3", "npm", "gem"} & set(names[:4]):
        return []
    rest = words[names.index("install") + 1 :]
    if "npm" in names[:4] and not {"-g", "--global"} & set(rest):
        return []
    if "gem" in names[:4] and {"-v", "--version"} & set(rest):
        return []
    return [
        w for at, w in enumerate(rest) if not w.startswith("-") and not (at and _TAKES_VALUE.fullmatch(rest[at - 1]))
    ]


@rule(
    "clock-in-tests",
    WARNING,
    "the tests ask for the date",
    fix="give the program a fixed date, or compare two readings",
)
def clock_in_tests(task: Task) -> Iterator[Hit]:
    """What holds today may not hold next month."""
    for path, line, what in _clocks(task):
        yield Hit(f"`{what}`", path, line)


@rule("absolute-date", WARNING, "tests that compare today with a fixed date", fix="make the date relative")
def absolute_date(task: Task) -> Iterator[Hit]:
    """A fixed date beside a reading of the clock in one file: sooner or later it lies in the past."""
    for path in dict.fromkeys(path for path, _, _ in _clocks(task)):
        for number, text in enumerate(task.text(path).split("\n"), start=1):
            found = _DATE.search(text)
            if found and not text.lstrip().startswith("#"):
                yield Hit(f"{found[0]} beside a reading of the clock", path, number)
                break


def _clocks(task: Task) -> Iterator[tuple[str, int, str]]:
    for path, file in task.python_tests.items():
        for name, call in file.calls:
            if name.rsplit(".", 1)[-1] in _CLOCKS and re.search(r"\b(date|datetime|time)\.", name):
                yield path, call.lineno, f"{name}()"
    for path, script in task.scripts.items():
        for command in script.commands if path.startswith("tests/") else ():
            fixed = {"-d", "--date", "-r", "-f", "-s"} & {
                w[:2] if not w.startswith("--") else w[:6] for w in command.words
            }
            if command.name == "date" and not fixed:
                yield path, command.line, command.text


@rule("chance-in-tests", WARNING, "the tests draw random numbers without a seed", fix="seed the generator")
def chance_in_tests(task: Task) -> Iterator[Hit]:
    """A test that sometimes fails a right answer, or passes a wrong one."""
    for path, file in task.python_tests.items():
        if any(name.endswith(("seed", "Random", "default_rng", "RandomState")) for name, _ in file.calls):
            continue
        draws = [(name, call) for name, call in file.calls if re.fullmatch(r"(np\.|numpy\.)?random\.\w+", name)]
        for name, call in draws[:1]:
            yield Hit(f"`{name}()` without a seed", path, call.lineno)
    for path, script in task.scripts.items():
        for command in script.commands if path.startswith("tests/") else ():
            if command.name == "shuf" and "--random-source" not in command.text:
                yield Hit("`shuf` without --random-source", path, command.line)
            elif re.search(r"\$\{?RANDOM\b", command.text) and not re.search(r"(?m)^\s*RANDOM=", script.text):
                yield Hit("$RANDOM without a seed", path, command.line)


@rule("timing-in-tests", WARNING, "the tests compare durations", fix="check the result, not the time it takes")
def timing_in_tests(task: Task) -> Iterator[Hit]:
    """A slow machine fails a right answer."""
    for path, file in task.python_tests.items():
        for node in file.asserts:
            text = written(node.test)
            if re.search(r"elapsed|duration|time\.(time|perf_counter|monotonic)\(\) -", text):
                yield Hit(f"`{text[:60]}`", path, node.lineno)
