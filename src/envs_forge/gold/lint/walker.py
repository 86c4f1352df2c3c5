"""A walk over all paths of a test script, keeping track of the reward that lies there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from tree_sitter import Node

from envs_forge.gold.lint.commands import STEADY, is_check
from envs_forge.gold.lint.flow import NOWHERE, UNKNOWN, End, Flow, States, Write, is_reward_file
from envs_forge.gold.lint.shell import Command, Script, command_of, line, plain, source, walk

_WRITERS = frozenset({"tee", "cp", "mv", "install", "ln", "dd", "sed"})
_DEPTH = 8
"""Calls of functions inside functions that are followed."""
_STEPS = 20_000
"""Statements that are visited at most, calls of functions included; no honest script comes near."""


class ScriptTooLargeError(Exception):
    """The script has too many ways through it to follow them all."""


def reward_flow(script: Script, may_write: Callable[[Command], bool]) -> Flow:
    """Walk over a test script.

    Args:
        script: The script.
        may_write: Whether a command may itself write the reward (a test runner whose plugin does, for instance).

    Raises:
        ScriptTooLargeError: It cannot be followed.
    """
    walker = _Walker(script, may_write)
    try:
        states = walker.block(script.root.named_children, frozenset({None}))
    except RecursionError as error:
        raise ScriptTooLargeError from error
    walker.end(states, script.text.rstrip("\n").count("\n") + 1, "end")
    return walker.flow


class _Walker:
    def __init__(self, script: Script, may_write: Callable[[Command], bool]) -> None:
        self.script = script
        self.may_write = may_write
        self.flow = Flow()
        self.functions: dict[str, Node] = {}
        self.redirects: dict[int, Node] = {}
        """Commands by their node's id → the statement around their list, whose redirects are theirs alone."""
        self.returns: list[States] = []
        self.errexit = bool(re.search(r"\s-\w*e", script.shebang))
        self.guards = self.subshells = self.steps = 0
        self.trapped = False

    def end(self, states: States, at: int, cause: str, what: str = "") -> None:
        if states:
            rewards = frozenset({UNKNOWN}) if self.trapped else states
            self.flow.ends.append(End(rewards, at, cause, what))

    def block(self, nodes: Iterable[Node], states: States) -> States:
        for node in nodes:
            if not states:
                break
            states = self.visit(node, states)
        return states

    def visit(self, node: Node, states: States) -> States:
        self.steps += 1
        if self.steps > _STEPS:
            raise ScriptTooLargeError
        visitor = getattr(self, f"_{node.type}", None)
        if visitor is not None:
            states = visitor(node, states)
        outer = self.redirects.get(node.id)
        return states if outer is None else self._redirect(outer, node, states)

    # Statements

    def _command(self, node: Node, states: States) -> States:
        command = command_of(node)
        if command.name in ("exit", "exec", "return"):
            return self._leave(command, states)
        if command.name == "set":
            self._set(command.arguments)
        elif command.name == "trap":
            self._trap(command.arguments)
        elif command.path in self.functions:
            return self._call(command.path, states)
        states = self._effect(command, states)
        if is_check(command):
            self._may_stop(states, command.line, command.text)
        return states

    def _effect(self, command: Command, states: States) -> States:
        words = [self.script.resolve(word) for word in command.arguments]
        target = next((word for word in words if is_reward_file(word)), None)
        if command.name == "rm" and target is not None:
            return frozenset({None})
        if command.name in _WRITERS and target is not None:
            return self._written(command.line, target, UNKNOWN)
        told = command.name not in STEADY and any("reward" in word.lower() for word in words)
        if told or self.may_write(command):
            return self._delegate()
        return states

    def _delegate(self) -> States:
        self.flow.delegated = True
        return frozenset({UNKNOWN})

    def _leave(self, command: Command, states: States) -> States:
        if command.name == "exec":
            if not command.arguments:
                return states
            states = self._effect(Command(command.node, command.arguments), states)
        if command.name == "return" and self.returns:
            self.returns[-1] |= states
            return NOWHERE
        if self.subshells:
            return states
        self.end(states, command.line, "exit", command.text)
        return NOWHERE

    def _call(self, name: str, states: States) -> States:
        if len(self.returns) >= _DEPTH:
            return states
        self.returns.append(NOWHERE)
        states = self.visit(self.functions[name], states)
        return states | self.returns.pop()

    def _set(self, arguments: Sequence[str]) -> None:
        for at, word in enumerate(arguments):
            named = word in ("-o", "+o") and arguments[at + 1 : at + 2] == ("errexit",)
            if named or re.fullmatch(r"[-+][a-zA-Z]*e[a-zA-Z]*", word):
                self.errexit = word.startswith("-")

    def _trap(self, arguments: Sequence[str]) -> None:
        if len(arguments) < 2 or not {"EXIT", "0", "ERR"} & set(arguments[1:]):
            return
        action = arguments[0]
        bodies = [
            action,
            *(source(body) for name, body in self.functions.items() if re.search(rf"\b{re.escape(name)}\b", action)),
        ]
        self.trapped = any("reward" in body.lower() for body in bodies)

    def _may_stop(self, states: States, at: int, what: str) -> None:
        if self.errexit and not self.guards and not self.subshells:
            self.end(states, at, "errexit", what)

    def _written(self, at: int, target: str, value: str) -> States:
        self.flow.writes.append(Write(at, target, value))
        return frozenset({value})

    def _redirected_statement(self, node: Node, states: States) -> States:
        body = node.child_by_field_name("body")
        if body is not None and body.type == "list":
            self._push_down(node, body)
            return self.visit(body, states)
        if body is not None:
            states = self.visit(body, states)
            if self._feeds_program(node, body) and states:
                states = self._delegate()
        return self._redirect(node, body, states)

    def _feeds_program(self, node: Node, body: Node) -> bool:
        """Whether a here-document that speaks of a reward is a program for what reads it."""
        texts = [source(n) for n in walk(node) if n.type == "heredoc_body"]
        speaks = any("reward" in text.lower() for text in texts)
        return speaks and body.type == "command" and command_of(body).name not in STEADY

    def _push_down(self, node: Node, body: Node) -> None:
        """The grammar hangs `a && b > file` up as `(a && b) > file`: give the redirect back to `b`."""
        self.redirects[body.named_children[-1].id] = node

    def _redirect(self, node: Node, body: Node | None, states: States) -> States:
        for target in self._targets(node):
            if is_reward_file(target) and states:
                states = self._written(line(body or node), target, self._constant(body))
        return states

    def _targets(self, node: Node) -> list[str]:
        """Where the redirects of this statement write to, not those of statements inside of it."""
        found: list[str] = []
        todo = list(node.children_by_field_name("redirect"))
        while todo:
            redirect = todo.pop(0)
            todo += redirect.children_by_field_name("redirect")
            destination = redirect.child_by_field_name("destination")
            if redirect.type == "file_redirect" and destination is not None and redirect.children[0].type != "<":
                found.append(self.script.resolve(plain(destination)))
        return found

    def _constant(self, body: Node | None) -> str:
        """What a plain `echo` or `printf` writes, `?` when that is not known."""
        if body is None or body.type != "command":
            return UNKNOWN
        command = command_of(body)
        words = [word for word in command.arguments if word not in ("-n", "-e", "-ne", "--")]
        if command.name == "printf" and len(words) == 2 and re.fullmatch(r"%[sdf.0-9]+(\\n)?", words[0]):
            words = words[1:]
        if command.name not in ("echo", "printf") or len(words) != 1:
            return UNKNOWN
        text = self.script.resolve(words[0]).replace("\\n", "").strip()
        return UNKNOWN if re.search(r"[$`%]", text) else text

    def _pipeline(self, node: Node, states: States) -> States:
        parts = node.named_children
        self.guards += 1
        states = self.block(parts[:-1], states)
        self.guards -= 1
        return self.block(parts[-1:], states)

    def _variable_assignment(self, node: Node, states: States) -> States:
        inner = [command_of(n) for n in walk(node) if n.type == "command"]
        for command in inner:
            states = self._effect(command, states)
        if inner and is_check(inner[-1]):
            self._may_stop(states, line(node), source(node))
        return states

    def _function_definition(self, node: Node, states: States) -> States:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[source(name)] = body
        return states

    def _compound_statement(self, node: Node, states: States) -> States:
        return self.block(node.named_children, states)

    _do_group = _compound_statement

    def _subshell(self, node: Node, states: States) -> States:
        self.subshells += 1
        states = self.block(node.named_children, states)
        self.subshells -= 1
        return states

    def _test_command(self, node: Node, states: States) -> States:
        self._may_stop(states, line(node), source(node))
        return states

    def _for_statement(self, node: Node, states: States) -> States:
        body = node.child_by_field_name("body")
        return states | self.visit(body, states) if body is not None else states

    _c_style_for_statement = _for_statement

    def _while_statement(self, node: Node, states: States) -> States:
        states = frozenset().union(*self._condition(node.children_by_field_name("condition"), states))
        return self._for_statement(node, states)

    def _case_statement(self, node: Node, states: States) -> States:
        result = NOWHERE
        items = [child for child in node.named_children if child.type == "case_item"]
        for item in items:
            values = item.children_by_field_name("value")
            result |= self.block([c for c in item.named_children if c not in values], states)
        default = any("*" in [source(v) for v in item.children_by_field_name("value")] for item in items)
        return result if default else result | states

    # Conditions

    def _negated_command(self, node: Node, states: States) -> States:
        return frozenset().union(*self.outcomes(node, states))

    def _list(self, node: Node, states: States) -> States:
        before = len(self.flow.writes)
        success, failure = self.outcomes(node, states)
        result = success | failure
        if None in result and len(self.flow.writes) > before:
            self.flow.gaps.append(line(node))
        return result

    def _if_statement(self, node: Node, states: States) -> States:
        result, before = NOWHERE, len(self.flow.writes)
        branches = [node, *(c for c in node.named_children if c.type == "elif_clause")]
        for branch in branches:
            conditions, body = _parts(branch)
            success, states = self._condition(conditions, states)
            result |= self.block(body, success)
        otherwise = next((c for c in node.named_children if c.type == "else_clause"), None)
        if otherwise is not None:
            return result | self.block(otherwise.named_children, states)
        if None in states and len(self.flow.writes) > before:
            self.flow.gaps.append(line(node))
        return result | states

    def _condition(self, nodes: Sequence[Node], states: States) -> tuple[States, States]:
        named = [node for node in nodes if node.is_named]
        self.guards += 1
        states = self.block(named[:-1], states)
        self.guards -= 1
        return self.outcomes(named[-1], states) if named else (states, states)

    def outcomes(self, node: Node, states: States) -> tuple[States, States]:
        """The states after success and after failure of `node` where its failure does not end the script."""
        body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
        if body is not None and body.type == "list":
            self._push_down(node, body)
            return self.outcomes(body, states)
        if node.type == "list":
            left, right = node.named_children[0], node.named_children[-1]
            success, failure = self.outcomes(left, states)
            if any(child.type == "&&" for child in node.children):
                second, failed = self.outcomes(right, success)
                return second, failure | failed
            second, failed = self.outcomes(right, failure)
            return success | second, failed
        if node.type == "negated_command":
            success, failure = self.outcomes(node.named_children[-1], states)
            return failure, success
        self.guards += 1
        after = self.visit(node, states) if states else states
        self.guards -= 1
        return after, NOWHERE if _cannot_fail(node) else after


def _parts(branch: Node) -> tuple[list[Node], list[Node]]:
    """Conditions and body of an `if` or `elif`."""
    names = [child.type for child in branch.children]
    start = names.index("then") if "then" in names else len(names)
    stops = ("elif_clause", "else_clause")
    body = [c for c in branch.children[start:] if c.is_named and c.type not in stops]
    return [c for c in branch.children[:start] if c.is_named], body


def _cannot_fail(node: Node) -> bool:
    if node.type == "redirected_statement":
        body = node.child_by_field_name("body")
        return body is None or _cannot_fail(body)
    return node.type == "variable_assignment" or (node.type == "command" and command_of(node).name in STEADY)
