"""Shell scripts as syntax trees. The text is parsed, never run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_EXPANSION = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def line(node: Node) -> int:
    """The line where `node` begins, counted from 1."""
    return node.start_point.row + 1


def source(node: Node) -> str:
    """The text of `node` as written."""
    return (node.text or b"").decode(errors="replace")


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, in the order of the text."""
    todo = [node]
    while todo:
        current = todo.pop()
        yield current
        todo.extend(reversed(current.children))


def plain(node: Node) -> str:
    """The text of a word without its quotes; expansions stay as written."""
    if node.type == "raw_string":
        return source(node)[1:-1]
    if node.type in ("string", "translated_string"):
        return source(node).removeprefix("$")[1:-1]
    if node.type == "concatenation":
        return "".join(plain(child) for child in node.children)
    if node.type == "word":
        return re.sub(r"\\(.)", r"\1", source(node), flags=re.DOTALL)
    return source(node)


@dataclass(frozen=True)
class Command:
    """A simple command: its name and arguments without quotes."""

    node: Node
    words: tuple[str, ...]

    @property
    def path(self) -> str:
        """The program as written."""
        return self.words[0] if self.words else ""

    @property
    def name(self) -> str:
        """The program without its directory."""
        return self.path.rsplit("/", 1)[-1]

    @property
    def arguments(self) -> tuple[str, ...]:
        """Everything after the name."""
        return self.words[1:]

    @property
    def line(self) -> int:
        """Where it begins."""
        return line(self.node)

    @property
    def text(self) -> str:
        """The words joined by spaces."""
        return " ".join(self.words)


def command_of(node: Node) -> Command:
    """The command of a `command` node; words that assign variables before it are left out."""
    words = [plain(child) for child in node.children_by_field_name("name")]
    words += [plain(child) for child in node.children_by_field_name("argument")]
    return Command(node, tuple(words))


class Script:
    """A shell script: text, tree, commands."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.root = _parser().parse(text.encode(errors="replace")).root_node

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """Every simple command, also those in functions, subshells and substitutions."""
        return tuple(command_of(node) for node in walk(self.root) if node.type == "command")

    @cached_property
    def variables(self) -> dict[str, str]:
        """Variables that are assigned exactly once, and to a constant."""
        values: dict[str, list[str]] = {}
        for node in walk(self.root):
            if node.type == "variable_assignment":
                name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
                if name is not None:
                    values.setdefault(source(name), []).append(plain(value) if value is not None else "")
        return {name: found[0] for name, found in values.items() if len(found) == 1 and "$(" not in found[0]}

    def resolve(self, text: str) -> str:
        """`text` with the variables filled in that have one constant value."""
        for _ in range(5):
            filled = _EXPANSION.sub(lambda m: self.variables.get(m[1] or m[2], m[0]), text)
            if filled == text:
                break
            text = filled
        return text

    @property
    def shebang(self) -> str:
        """The first line without `#!`, empty when it has none."""
        first = self.text.split("\n", 1)[0]
        return first[2:].strip() if first.startswith("#!") else ""

    @cached_property
    def broken_at(self) -> int | None:
        """Line of the first piece that is no shell, None when all of it is."""
        if not self.root.has_error:
            return None
        return next((line(n) for n in walk(self.root) if n.type == "ERROR" or n.is_missing), 1)
