"""Skills of a task that names none, read from its texts without a model and without running anything.

    tag(TaskTexts(instruction=…, solution=…, dockerfile=…, tests=…))   # ('artifact/json', 'tool/jq', …)

`tagging.toml` says for each skill what betrays it: *commands* in command position in the solution or installed by the
Dockerfile, *files* by their names in the instruction, the solution or, below the paths that they check, the tests,
*libraries* that Python code of the solution imports, *words* of the instruction. What only the tests use is the
harness' business and no skill of the task, so their commands and imports do not count.

Domains have no rules. One is tagged when both an operation and an artifact of the task lie beside it in the graph.

This is a reader of surfaces: it misses what is said in other words and believes words that are said in passing. It
serves coverage and quotas, and whoever knows better writes `skills` into the task's metadata, which wins.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

from envs_forge.errors import UserError
from envs_forge.plan.shelltext import commands_of, imports_of, installed_by, parts_of, paths_in, strings_of
from envs_forge.plan.skills import NodeType, SkillGraph, load_graph

KEYS = ("commands", "files", "libraries", "words")

_HARNESS = ("/tests", "/logs", "/tmp")


@dataclass(frozen=True)
class TaskTexts:
    """A task as texts; several files of one kind are joined by blank lines."""

    instruction: str
    solution: str = ""
    dockerfile: str = ""
    tests: str = ""


Hook = Callable[[TaskTexts], Iterable[str]]
"""Names further skills of a task, for instance by asking a model. What the graph does not know is left out."""


@dataclass(frozen=True)
class Rule:
    """What betrays one skill."""

    skill: str
    commands: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    libraries: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Surface:
    """What the rules are held against."""

    commands: frozenset[str]
    files: frozenset[str]
    libraries: frozenset[str]
    text: str


def tag(texts: TaskTexts, *, graph: SkillGraph | None = None, hook: Hook | None = None) -> tuple[str, ...]:
    """Skills of a task, sorted: what the rules find, what `hook` adds, and the domains of both."""
    known = graph or load_graph()
    surface = surface_of(texts)
    found = {rule.skill for rule in package_rules() if _betrayed(rule, surface)}
    if hook is not None:
        found.update(hook(texts))
    found &= known.nodes.keys()
    return tuple(sorted(found | _domains(known, found)))


def surface_of(texts: TaskTexts) -> Surface:
    """Commands, file names, libraries and prose of a task."""
    shell, python = parts_of(texts.solution)
    checked = [path for path in paths_in(texts.tests) if path.startswith("/") and not path.startswith(_HARNESS)]
    names = [*paths_in(texts.instruction), *paths_in(shell), *paths_in(strings_of(python)), *checked]
    return Surface(
        commands=frozenset(commands_of(shell)) | installed_by(texts.dockerfile) | ({"python3"} if python else set()),
        files=frozenset(name.rsplit("/", 1)[-1].lower() for name in names),
        libraries=imports_of(python),
        text=" ".join(texts.instruction.lower().split()),
    )


def _betrayed(rule: Rule, surface: Surface) -> bool:
    return bool(
        rule.commands & surface.commands
        or rule.libraries & surface.libraries
        or (rule.words is not None and rule.words.search(surface.text))
        or any(fnmatchcase(name, glob) for glob in rule.files for name in surface.files)
    )


def _domains(graph: SkillGraph, found: Iterable[str]) -> set[str]:
    own = frozenset(found)
    domains = set()
    for domain in graph.of_type(NodeType.DOMAIN):
        beside = {graph.nodes[node].type for node in graph.nodes[domain].adjacent & own}
        if beside >= {NodeType.OPERATION, NodeType.ARTIFACT}:
            domains.add(domain)
    return domains


@cache
def package_rules() -> tuple[Rule, ...]:
    """The rules of `tagging.toml`, read once."""
    text = resources.files("envs_forge.plan").joinpath("tagging.toml").read_text("utf-8")
    return build_rules(tomllib.loads(text), load_graph())


def build_rules(table: Mapping[str, Any], graph: SkillGraph) -> tuple[Rule, ...]:
    """Rules of a table `{type: {name: {commands, files, libraries, words}}}`.

    Raises:
        UserError: Skills that the graph does not have, keys that there are not, values that are no list of texts; all
            of them in one line.
    """
    rows = {f"{kind}/{name}": row for kind, names in table.items() for name, row in names.items()}
    faults = [f"unknown skill {skill}" for skill in graph.unknown(rows)]
    for skill, row in rows.items():
        faults += [f"{skill} has an unknown key {key}" for key in row if key not in KEYS]
        faults += [f"{skill}: {key} is no list of texts" for key in row if not _texts(row[key])]
    if faults:
        raise UserError("tagging rules: " + "; ".join(faults))
    return tuple(
        Rule(
            skill,
            frozenset(row.get("commands", ())),
            tuple(row.get("files", ())),
            frozenset(row.get("libraries", ())),
            _pattern(row.get("words", ())),
        )
        for skill, row in rows.items()
    )


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) and text for text in value)


def _pattern(phrases: Iterable[str]) -> re.Pattern[str] | None:
    """One pattern for all phrases: whole words; `..` spans a few words of a sentence."""
    parts = [r"[^.;:]{0,50}?".join(re.escape(half.strip()) for half in _halves(phrase)) for phrase in phrases]
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)") if parts else None


def _halves(phrase: str) -> list[str]:
    return [half for half in phrase.split("..") if half.strip()]
