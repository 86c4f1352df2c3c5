"""Changes to Python code."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from envs_forge.bundle.syntax import parse_source
from envs_forge.gold.mutants.mutation import Mutation, Operator

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
}
_LOOK_ONLY = frozenset({"indent", "ensure_ascii", "encoding", "newline", "width", "flush", "timeout", "mode", "errors"})
"""Keyword arguments that change how a file looks or a program runs, not what it says."""
_NO_EFFECT = frozenset({"print", "exit", "close", "mkdir", "makedirs", "sleep", "chdir", "setdefault"})
_MAX_SOURCE = 200_000


def python_mutations(source: bytes) -> Iterator[Mutation]:
    """Every change to a program; none where it cannot be parsed."""
    if len(source) > _MAX_SOURCE:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parse_source(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]
    yield from _Visitor(source, starts).changes(tree)


class _Visitor:
    def __init__(self, source: bytes, line_starts: list[int]) -> None:
        self._source = source
        self._starts = line_starts

    def changes(self, tree: ast.AST) -> Iterator[Mutation]:
        """Changes to a tree, in the order of its nodes."""
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, ast.keyword) and node.arg in _LOOK_ONLY:
                continue
            yield from self._change(node)
            yield from self.changes(node)

    def _change(self, node: ast.AST) -> Iterator[Mutation]:
        if isinstance(node, ast.Expr):
            yield from self._statement(node)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from self._comparison(node)
        elif isinstance(node, ast.Constant):
            yield from self._constant(node)
        elif isinstance(node, ast.BoolOp):
            yield from self._boolean(node)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _statement(self, node: ast.Expr) -> Iterator[Mutation]:
        if not isinstance(node.value, ast.Call):
            return
        function = node.value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name not in _NO_EFFECT:
            yield Mutation(Operator.DROP_COMMAND, *self._span(node), b"pass")

    def _comparison(self, node: ast.Compare) -> Iterator[Mutation]:
        change = _COMPARISONS.get(type(node.ops[0]))
        if change is None:
            return
        yield from self._between(node.left, node.comparators[0], *change, Operator.COMPARISON)

    def _boolean(self, node: ast.BoolOp) -> Iterator[Mutation]:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        yield from self._between(node.values[0], node.values[1], old, new, Operator.COMPARISON)

    def _between(self, left: ast.expr, right: ast.expr, old: str, new: str, operator: Operator) -> Iterator[Mutation]:
        """Replace the word `old` that stands between two expressions."""
        start, end = self._span(left)[1], self._span(right)[0]
        at = self._source.find(old.encode(), start, end)
        if at >= 0:
            yield Mutation(operator, at, at + len(old), new.encode())

    def _constant(self, node: ast.Constant) -> Iterator[Mutation]:
        if isinstance(node.value, bool):
            yield Mutation(Operator.ORDER, *self._span(node), str(not node.value).encode())
        elif isinstance(node.value, int | float):
            start, end = self._span(node)
            yield Mutation(Operator.CONSTANT, start, end, b"(" + self._source[start:end] + b" + 1)")
