"""Constants that Python tests expect: compared directly, or under a name that is compared. Read, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

_PASSES = 4
"""How often what a wanted name stands for is followed: `WANT` → `for row in WANT` → `check(row)` → `got == want`."""
_MOST = 50_000
"""Values that are looked at: a hostile text may name one table in a thousand loops."""
_ASSERTING = re.compile(r"assert\w*?(?:equals?|in|is)", re.I)
_COLLECTIONS = {"set", "frozenset", "list", "tuple", "dict", "str", "bytes", "Counter"}
_KEEPING = _COLLECTIONS | {"sorted", "reversed", "enumerate", "zip", "dedent", "loads", "approx"}
"""Functions whose result holds what they are given. Of others, such as one that runs a command, nothing is known."""
_EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)


class _Wanted:
    """Collects constants and the names of others."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.constants: dict[str, None] = {}
        self.left = _MOST

    def take(self, value: ast.expr | None) -> None:
        self.left -= 1
        for leaf in _leaves(value) if self.left > 0 else ():
            self.left -= 1
            if isinstance(leaf, ast.Name):
                self.names.add(leaf.id)
            elif isinstance(leaf, ast.Constant) and isinstance(leaf.value, str | int | float):
                self.constants[str(leaf.value)] = None

    def has(self, target: ast.AST) -> bool:
        return self.left > 0 and any(isinstance(node, ast.Name) and node.id in self.names for node in ast.walk(target))


def expected_in_python(tree: ast.Module) -> list[str]:
    """Texts and numbers that something is held equal to or searched for, each as it stands."""
    wanted, nodes = _Wanted(), list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], _EQUAL):
            for side in (node.left, *node.comparators):
                wanted.take(side)
        elif isinstance(node, ast.Call) and _ASSERTING.fullmatch(_name(node.func)):
            for argument in node.args[:2]:
                wanted.take(argument)
    for _ in range(_PASSES):
        before = len(wanted.names), len(wanted.constants)
        _follow(nodes, wanted)
        if before == (len(wanted.names), len(wanted.constants)):
            break
    return [*wanted.constants]


def _follow(nodes: list[ast.AST], wanted: _Wanted) -> None:
    """Take what wanted names were given: by assignments, loops, calls, and parameters of pytest."""
    places = dict(_wanted_places(nodes, wanted))
    assigned = {target.id: value for target, value in _assignments(nodes) if isinstance(target, ast.Name)}
    for target, value in _assignments(nodes):
        if wanted.has(target):
            wanted.take(value)
    for node in nodes:
        if isinstance(node, ast.For | ast.comprehension) and wanted.has(node.target):
            _looped(node.target, node.iter, assigned, wanted)
        elif isinstance(node, ast.Call) and _name(node.func) == "parametrize" and len(node.args) > 1:
            _parametrized(node.args[0], node.args[1], assigned, wanted)
        elif isinstance(node, ast.Call):
            for place in places.get(_name(node.func), ()):
                wanted.take(node.args[place] if place < len(node.args) else None)


def _assignments(nodes: list[ast.AST]) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            yield node.target, node.value


def _wanted_places(nodes: list[ast.AST], wanted: _Wanted) -> Iterator[tuple[str, list[int]]]:
    """Functions and the places of their parameters that are wanted."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            places = [at for at, parameter in enumerate(node.args.args) if parameter.arg in wanted.names]
            if places:
                yield node.name, places


def _looped(target: ast.expr, rows: ast.expr, assigned: Mapping[str, ast.expr], wanted: _Wanted) -> None:
    """What the wanted of several loop variables become: the others may be names of checks, said to people."""
    names = target.elts if isinstance(target, ast.Tuple) else []
    table = _table(rows, assigned) if names else []
    if not table:
        wanted.take(rows)
    for place, name in enumerate(names):
        if wanted.has(name):
            for row in table:
                wanted.take(row[place] if place < len(row) else None)


def _parametrized(names: ast.expr, rows: ast.expr, assigned: Mapping[str, ast.expr], wanted: _Wanted) -> None:
    listed = [text.strip() for leaf in _leaves(names) for text in str(getattr(leaf, "value", "")).split(",")]
    if len(listed) == 1 and listed[0] in wanted.names:
        wanted.take(rows)
    for place in (at for at, name in enumerate(listed) if name in wanted.names):
        for row in _table(rows, assigned):
            wanted.take(row[place] if place < len(row) else None)


def _table(rows: ast.expr, assigned: Mapping[str, ast.expr]) -> list[list[ast.expr]]:
    """The rows of a list of tuples, or the items of a dict, also under a name; empty for what is none."""
    items = isinstance(rows, ast.Call) and isinstance(rows.func, ast.Attribute) and rows.func.attr == "items"
    value = rows.func.value if isinstance(rows, ast.Call) and isinstance(rows.func, ast.Attribute) and items else rows
    if isinstance(value, ast.Name):
        value = assigned.get(value.id, value)
    if isinstance(value, ast.Dict) and items:
        return [[key, entry] for key, entry in zip(value.keys, value.values, strict=True) if key is not None]
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return [row.elts for row in value.elts if isinstance(row, ast.Tuple | ast.List)]
    return []


def _leaves(value: ast.expr | None) -> Iterator[ast.expr]:
    """Names and constants that a value is made of; not what functions are called with, but for those that keep it."""
    todo = [value]
    while todo:
        node = todo.pop()
        match node:
            case ast.Name() | ast.Constant():
                yield node
            case ast.List() | ast.Tuple() | ast.Set():
                todo.extend(reversed(node.elts))
            case ast.Dict():
                todo.extend([*node.keys, *node.values])
            case ast.BinOp():
                todo.extend([node.left, node.right])
            case ast.UnaryOp():
                todo.append(node.operand)
            case ast.Subscript() | ast.Attribute() | ast.Starred():
                todo.append(node.value)
            case ast.Call() if _name(node.func) in _KEEPING:
                todo.extend(node.args)
            case ast.Call() if isinstance(node.func, ast.Attribute):
                todo.append(node.func.value)
            case _:
                pass


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
