"""Rules about `$?`: it is the status of the last command, which is not always the one that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from envs_forge.bundle.check import TEST
from envs_forge.gold.lint.commands import is_check
from envs_forge.gold.lint.registry import ERROR, WARNING, Hit, rule
from envs_forge.gold.lint.shell import command_of, line, source, walk
from envs_forge.gold.lint.task import Task

_STATUS = re.compile(r"\$\?|\$\{\?\}")
_FILTERS = frozenset({"tee", "cat", "head", "tail", "sed", "awk", "tr", "sort", "nl"})
_NOISE = frozenset({"echo", "printf", "true", ":", "cat"})


def _uses(task: Task) -> Iterator[tuple[Node, list[Node]]]:
    """Statements that ask for `$?`, each with the statements before it in its block, nearest first."""
    if task.test is None or task.flow is None:
        return
    for node in walk(task.test.root):
        statements = [child for child in node.named_children if child.type != "comment"]
        for at, statement in enumerate(statements):
            if at and _STATUS.search(_asking_part(statement)):
                yield statement, statements[:at][::-1]


def _asking_part(statement: Node) -> str:
    """The part of a statement that is evaluated first."""
    if statement.type == "if_statement":
        return " ".join(source(c) for c in statement.children_by_field_name("condition"))
    return source(statement) if _kind(statement) in ("variable_assignment", "test_command", "list") else ""


def _kind(statement: Node) -> str:
    """The type of a statement, redirects aside."""
    body = statement.child_by_field_name("body") if statement.type == "redirected_statement" else None
    return body.type if body is not None else statement.type


def _decides(statement: Node) -> bool:
    """Whether the statement itself writes the reward in its branches."""
    return _kind(statement) in ("if_statement", "list") and "reward" in source(statement).lower()


@rule(
    "status-of-pipe",
    ERROR,
    "`$?` after a pipe is the status of its last program, not of the tests",
    fix="set -o pipefail, or use ${PIPESTATUS[0]}, or write to a file first",
)
def status_of_pipe(task: Task) -> Iterator[Hit]:
    """`pytest | tee log; if [ $? -eq 0 ]` is always true."""
    if task.test is None or "pipefail" in task.test.text:
        return
    for statement, before in _uses(task):
        parts = before[0].named_children if before[0].type == "pipeline" else []
        commands = [_command(part) for part in parts]
        if len(commands) < 2 or commands[-1] not in _FILTERS:
            continue
        if any(is_check(command_of(n)) for n in walk(parts[0]) if n.type == "command"):
            message = f"$? is the status of {commands[-1]}"
            yield Hit(message, TEST, line(statement), severity=None if _decides(statement) else WARNING)


@rule(
    "stale-status",
    ERROR,
    "`$?` is asked for after another command has replaced it",
    fix="save it right after the tests: `status=$?`",
)
def stale_status(task: Task) -> Iterator[Hit]:
    """`pytest; echo done; if [ $? -eq 0 ]` is always true, and so is `pytest || true; if [ $? -eq 0 ]`."""
    for statement, before in _uses(task):
        severity = None if _decides(statement) else WARNING
        if _command(before[0]) in _NOISE and len(before) > 1 and _is_check(before[1]):
            message = f"$? is the status of {_command(before[0])}"
            yield Hit(message, TEST, line(statement), severity=severity)
        elif before[0].type == "list" and re.search(r"\|\|\s*(?:true|:)\s*$", source(before[0])):
            yield Hit("$? is 0 after `|| true`", TEST, line(statement), severity=severity)


def _is_check(node: Node) -> bool:
    return any(is_check(command_of(n)) for n in walk(node) if n.type == "command")


def _command(node: Node) -> str:
    """Name of the simple command that `node` is, empty when it is another statement."""
    if node.type == "redirected_statement":
        body = node.child_by_field_name("body")
        return _command(body) if body is not None else ""
    return command_of(node).name if node.type == "command" else ""
