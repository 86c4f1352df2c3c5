"""Constants in instruction, solution and tests: paths, numbers, texts. All of it read, none of it run."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from envs_forge.bundle.model import Bundle, Part
from envs_forge.plan.shelltext import heredocs, parts_of
from envs_forge.synthesis.audit.parts import parse_python, texts_of
from envs_forge.synthesis.bounded import LINE_CHARS

_QUOTED = re.compile(r"'([^'\n]*)'|\"([^\"\n]*)\"")
_NUMBER = re.compile(r"(?<![\w.:/-])-?\d+(?:\.\d+)?(?![\w:-]|\.\d)")
_PATH = re.compile(r"(?<![\w./~$}-])/(?:[\w.@+-]+/)*[\w.@+*-]*[\w*]/?")
_SHELL_COMPARED = re.compile(r"-(?:eq|ne|lt|le|gt|ge)\s+\"?(-?\d+)|[!=]=?\s*\"?(-?\d+(?:\.\d+)?)\"?\s*\]")
_JQ_KEY = re.compile(r"\.([A-Za-z_]\w*)")
_JQ = re.compile(r"\bjq\b[^|;\n]*?'([^'\n]*)'")
_COMMENT = re.compile(r"^[ \t]*#.*$", re.M)
_JSON_KEY = re.compile(r"\"(\w+)\"\s*:")
_MOST_LEAVES = 20_000
_GETTERS = {"get", "getitem"}


@dataclass
class Literals:
    """Constants of some code.

    Attributes:
        texts: String constants, whole.
        paths: Absolute paths; of files of data only such strings as are one as a whole.
        numbers: Numbers that stand in it.
        keys: Constants that something is looked up by.
        compared: Numbers that something is compared with.
        expected: Strings that something is compared with, and strings in files of data.
    """

    texts: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    compared: set[str] = field(default_factory=set)
    expected: set[str] = field(default_factory=set)


def literals_of(bundle: Bundle, part: Part) -> Literals:
    """The constants of solution or tests."""
    found = Literals()
    for path, text in texts_of(bundle, part).items():
        if path.endswith(".json"):
            _from_json(text, found)
            continue
        found.paths |= paths_of(text)
        if path.endswith(".py"):
            _from_python(text, found)
        else:
            shell, python = parts_of(text)
            _from_shell(shell, found)
            if python:
                _from_python(python, found)
    return found


def numbers_in(text: str) -> set[str]:
    """Numbers that stand free in a text, in plain form."""
    return {plain_number(match[0]) for match in _NUMBER.finditer(text)}


def plain_number(text: str) -> str:
    """`7.0`, `+7` and `007` are `7`."""
    try:
        value = float(text)
    except ValueError:
        return text
    return str(int(value)) if value.is_integer() else repr(value)


def paths_of(text: str) -> set[str]:
    """Absolute paths in a text, without a slash at the end."""
    return {match[0].rstrip("/.") for match in _PATH.finditer(text)} - {""}


def without_heredocs(script: str) -> str:
    """A shell script without the bodies of its here-documents."""
    kept, place = [], 0
    for doc in heredocs(script):
        kept.append(script[place : doc.end - len(doc.body)])
        place = doc.end
    return "".join([*kept, script[place:]])


def _from_shell(text: str, found: Literals) -> None:
    text = _COMMENT.sub("", text)
    for match in _QUOTED.finditer(text):
        found.texts.add(match[1] if match[1] is not None else match[2])
    found.numbers |= numbers_in(text)
    found.compared |= {plain_number(match[1] or match[2]) for match in _SHELL_COMPARED.finditer(text)}
    found.keys.update(_JSON_KEY.findall(text))
    for program in _JQ.findall(text):
        found.keys.update(_JQ_KEY.findall(program))


def _from_python(text: str, found: Literals) -> None:
    tree = parse_python(text)
    if tree is None:
        _from_shell(text, found)
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            _constant(node.value, found)
        elif isinstance(node, ast.Subscript) and _is_text(node.slice):
            found.keys.add(node.slice.value)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Call) and _is_getter(node) and node.args and _is_text(node.args[0]):
            found.keys.add(node.args[0].value)  # type: ignore[attr-defined]
        elif isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                _compared(side, found)


def _constant(value: object, found: Literals) -> None:
    if isinstance(value, str):
        found.texts.add(value)
    _number(value, found.numbers)


def _compared(side: ast.expr, found: Literals) -> None:
    """Constants that stand on one side of a comparison, also in a list or within `approx`; not what is called with."""
    todo: list[ast.expr | None] = [side]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            todo.extend(node.elts)
        elif isinstance(node, ast.Dict):
            todo.extend([*node.keys, *node.values])
        elif isinstance(node, ast.UnaryOp):
            todo.append(node.operand)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("approx"):
            todo.extend(node.args[:1])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.expected.add(node.value)
        elif isinstance(node, ast.Constant):
            _number(node.value, found.compared)


def _number(value: object, into: set[str]) -> None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        into.add(plain_number(repr(value)))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_getter(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in _GETTERS


def _from_json(text: str, found: Literals) -> None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    for leaf in islice(_leaves(value), _MOST_LEAVES):
        leaf = leaf[:LINE_CHARS]
        found.texts.add(leaf)
        found.expected.add(leaf)
        found.paths |= {leaf.rstrip("/")} if _PATH.fullmatch(leaf) else set()


def _leaves(value: Any) -> Iterator[str]:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, Mapping):
            todo.extend(item.values())
        elif isinstance(item, list):
            todo.extend(item)
        elif item is not None and not isinstance(item, bool):
            yield str(item)
