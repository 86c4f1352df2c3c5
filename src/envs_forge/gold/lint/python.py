"""Python tests as syntax trees. The text is parsed, never run."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from functools import cached_property

from envs_forge.bundle.syntax import parse_source


def written(node: ast.AST) -> str:
    """The source of `node`; empty where it is nested too deeply to be written."""
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return ""


@dataclass(frozen=True)
class PythonFile:
    """A parsed Python file: all its nodes once."""

    nodes: tuple[ast.AST, ...]

    @classmethod
    def parse(cls, text: str) -> PythonFile | None:
        """None when this Python cannot parse it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return cls(tuple(ast.walk(parse_source(text))))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None

    @cached_property
    def calls(self) -> tuple[tuple[str, ast.Call], ...]:
        """Every call with what it calls, as written."""
        return tuple((written(node.func), node) for node in self.nodes if isinstance(node, ast.Call))

    @cached_property
    def asserts(self) -> tuple[ast.Assert, ...]:
        """Every `assert`."""
        return tuple(node for node in self.nodes if isinstance(node, ast.Assert))
