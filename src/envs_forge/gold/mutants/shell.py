"""Changes to shell code, with what it carries: Python, awk and sed programs, here-documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from envs_forge.gold.mutants.mutation import Mutation, Operator
from envs_forge.gold.mutants.python import python_mutations

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_BLOCKS = frozenset(
    {"program", "do_group", "compound_statement", "subshell", "if_statement", "elif_clause", "else_clause", "case_item"}
)
_STATEMENTS = frozenset({"command", "redirected_statement", "pipeline", "declaration_command"})
_KEPT = frozenset(
    {"cd", "set", "shopt", "trap", "exit", "return", "sleep", "true", "false", ":", "source", ".", "wait"}
)
"""Commands whose loss leaves the same work or none at all."""
_SAYING = frozenset({"echo", "printf"})
_FILTERS = frozenset({"sort", "uniq", "head", "tail", "grep", "tr", "cut", "sed", "awk", "rev", "tac", "jq", "column"})
_PROGRAMS = frozenset({"awk", "gawk", "mawk", "jq", "sqlite3"})
"""Commands that take a program in a small language as an argument."""
_PYTHON = re.compile(rb"(.*/)?python[0-9.]*")
_SHEBANG = re.compile(rb"#!.*\b(ba|da|z|k)?sh\b")
_TESTS = {b"-gt": b"-ge", b"-ge": b"-gt", b"-lt": b"-le", b"-le": b"-lt", b"-eq": b"-ne", b"-ne": b"-eq"}
_TESTS |= {b"==": b"!=", b"!=": b"==", b"=": b"!="}
_AWK_COMPARISON = re.compile(rb"(?<![<>=!>])(>=|<=|==|!=|>|<)(?![=>])")
_AWK_CHANGES = {b">=": b">", b"<=": b"<", b"==": b"!=", b"!=": b"==", b">": b">=", b"<": b"<="}
_NUMBER = re.compile(rb"(?<![\w$.])\d+(?![\w.])")
_SQL_DIRECTION = re.compile(rb"\b(ASC|DESC)\b", re.IGNORECASE)
_SQL_ORDER = re.compile(rb"\bORDER\s+BY\s+[\w.]+(?=\s*[;)'\"]|\s+LIMIT\b|\s*$)", re.IGNORECASE)
_MAX_SOURCE = 200_000
_MAX_DEPTH = 200


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def shell_mutations(source: bytes) -> Iterator[Mutation]:
    """Every change to a script; parts that cannot be parsed are left alone."""
    if len(source) <= _MAX_SOURCE:
        yield from _walk(_parser().parse(source).root_node, 0)


def _walk(node: Node, depth: int) -> Iterator[Mutation]:
    if depth > _MAX_DEPTH or node.is_error:
        return
    if node.type in _STATEMENTS and _is_statement(node) and not _is_idle(node):
        yield Mutation(Operator.DROP_COMMAND, node.start_byte, node.end_byte, b":")
    if node.type == "pipeline":
        yield from _filters(node)
    elif node.type == "command":
        yield from _command(node)
    elif node.type == "test_operator" or (node.parent is not None and node.parent.type == "binary_expression"):
        yield from _test(node)
    elif node.type == "file_redirect":
        yield from _redirect(node)
    elif node.type == "heredoc_redirect":
        yield from _heredoc(node)
    for child in node.children:
        yield from _walk(child, depth + 1)


def _text(node: Node) -> bytes:
    return node.text or b""


def _is_statement(node: Node) -> bool:
    """Whether a node is a statement of its own, and not the condition of an `if` or `while`."""
    parent = node.parent
    if parent is None or parent.type not in _BLOCKS | {"list"}:
        return False
    if parent.type not in ("if_statement", "elif_clause"):
        return True
    then = next((child for child in parent.children if child.type == "then"), None)
    return then is not None and node.start_byte > then.start_byte


def _names(node: Node) -> list[str]:
    """Names of the commands that a statement runs."""
    if node.type == "command":
        name = node.child_by_field_name("name")
        return [_text(name).decode(errors="replace")] if name is not None else []
    return [name for child in node.named_children for name in _names(child)]


def _is_idle(node: Node) -> bool:
    """Whether the loss of a statement says nothing about the tests."""
    names = _names(node)
    if node.type == "command" and names and names[0] in _SAYING:
        return True
    return not names or all(name in _KEPT for name in names)


def _filters(pipeline: Node) -> Iterator[Mutation]:
    stages = pipeline.named_children
    for before, stage in pairwise(stages):
        if any(name in _FILTERS for name in _names(stage)[:1]):
            yield Mutation(Operator.DROP_FILTER, before.end_byte, stage.end_byte, b"")


def _command(node: Node) -> Iterator[Mutation]:
    names = _names(node)
    name = names[0] if names else ""
    arguments = [child for child in node.named_children if child.type != "command_name"]
    if name in _KEPT:
        return
    if _PYTHON.fullmatch(name.encode()):
        yield from _inline_python(arguments)
        return
    if name == "sort":
        yield from _sort(node, arguments)
    for argument in arguments:
        yield from _argument(name, argument)


def _inline_python(arguments: list[Node]) -> Iterator[Mutation]:
    for option, code in pairwise(arguments):
        if _text(option) == b"-c" and code.type in ("raw_string", "string"):
            yield from (change.shifted(code.start_byte + 1) for change in python_mutations(_text(code)[1:-1]))


def _sort(node: Node, arguments: list[Node]) -> Iterator[Mutation]:
    for argument in arguments:
        flags = re.fullmatch(rb"-([a-zA-Z]+)", _text(argument))
        if flags is None:
            continue
        for letter in (b"r", b"n"):
            if letter in flags[1]:
                rest = flags[1].replace(letter, b"")
                new = b"-" + rest if rest else b""
                yield Mutation(Operator.ORDER, argument.start_byte, argument.end_byte, new)
    if not any(re.fullmatch(rb"-[a-zA-Z]*r[a-zA-Z]*|--reverse", _text(argument)) for argument in arguments):
        name = node.named_children[0]
        yield Mutation(Operator.ORDER, name.end_byte, name.end_byte, b" -r")


def _argument(name: str, argument: Node) -> Iterator[Mutation]:
    text = _text(argument)
    if name == "test" and text in _TESTS:
        yield Mutation(Operator.COMPARISON, argument.start_byte, argument.end_byte, _TESTS[text])
    elif argument.type == "number" and text.isdigit():
        yield Mutation(Operator.CONSTANT, argument.start_byte, argument.end_byte, str(int(text) + 1).encode())
    elif name in _PROGRAMS and argument.type in ("raw_string", "string"):
        yield from (change.shifted(argument.start_byte) for change in _program(text))
    elif argument.type in ("raw_string", "string") and name in _SAYING and len(text) > 2 and b"%" not in text:
        yield Mutation(Operator.TEXT, argument.end_byte - 1, argument.end_byte - 1, b"x")
    elif name == "sed" and argument.type == "raw_string" and text.endswith(b"/g'"):
        yield Mutation(Operator.TEXT, argument.end_byte - 2, argument.end_byte - 1, b"")


def _program(text: bytes) -> Iterator[Mutation]:
    """Changes to a small program in a string: comparisons, whole numbers and, in SQL, the order of rows."""
    for match in _AWK_COMPARISON.finditer(text):
        yield Mutation(Operator.COMPARISON, match.start(), match.end(), _AWK_CHANGES[match[0]])
    for match in _NUMBER.finditer(text):
        yield Mutation(Operator.CONSTANT, match.start(), match.end(), str(int(match[0]) + 1).encode())
    for match in _SQL_DIRECTION.finditer(text):
        turned = b"DESC" if match[0].upper() == b"ASC" else b"ASC"
        yield Mutation(Operator.ORDER, match.start(), match.end(), turned)
    for match in _SQL_ORDER.finditer(text):
        yield Mutation(Operator.ORDER, match.end(), match.end(), b" DESC")


def _test(node: Node) -> Iterator[Mutation]:
    new = _TESTS.get(_text(node))
    if new is not None:
        yield Mutation(Operator.COMPARISON, node.start_byte, node.end_byte, new)


def _redirect(node: Node) -> Iterator[Mutation]:
    for child in node.children:
        if child.type == ">>":
            yield Mutation(Operator.REDIRECT, child.start_byte, child.end_byte, b">")


def _heredoc(node: Node) -> Iterator[Mutation]:
    body = next((child for child in node.children if child.type == "heredoc_body"), None)
    if body is None or node.parent is None:
        return
    text = _text(body)
    language = _language(node.parent, text)
    if language == "python":
        changes = python_mutations(text)
    elif language == "shell":
        changes = shell_mutations(text)
    else:
        changes = _plain(text)
    yield from (change.shifted(body.start_byte) for change in changes)


def _language(statement: Node, text: bytes) -> str:
    """What a here-document is written in: what runs it, its first line or the file that it goes to tells."""
    names = _names(statement)
    first = text.partition(b"\n")[0]
    targets = [_text(child) for child in statement.named_children if child.type == "file_redirect"]
    targets += [_text(child) for redirect in statement.named_children for child in redirect.named_children]
    if names and _PYTHON.fullmatch(names[0].encode()):
        return "python"
    if (first.startswith(b"#!") and b"python" in first) or any(target.endswith(b".py") for target in targets):
        return "python"
    if (names and names[0] in ("bash", "sh")) or _SHEBANG.match(first) or any(t.endswith(b".sh") for t in targets):
        return "shell"
    return "text"


def _plain(text: bytes) -> Iterator[Mutation]:
    """Changes to a text: a few lines dropped, a few numbers changed. Comments are left alone."""
    lines = text.splitlines(keepends=True)
    starts = list(accumulate((len(line) for line in lines), initial=0))
    telling = [place for place, line in enumerate(lines) if len(line.strip()) > 3 and line.strip()[:1] not in b"#\"'"]
    for place in telling[:: max(1, len(telling) // 3)]:
        yield Mutation(Operator.DROP_LINE, starts[place], starts[place + 1], b"")
    for match in list(_NUMBER.finditer(text))[:5]:
        yield Mutation(Operator.CONSTANT, match.start(), match.end(), str(int(match[0]) + 1).encode())
