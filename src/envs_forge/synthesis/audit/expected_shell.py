"""Texts that tests in shell expect: beside `=`, grep, diff and cmp, or under a name or in a file that stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envs_forge.plan.shelltext import heredocs

_TOKEN = re.compile(r"\\.|'([^']*)'|\"((?:[^\"\\]|\\.)*)\"", re.S)
_COMMENT = re.compile(r"^[ \t]*#.*$|[ \t]#[^\n'\"]*$", re.M)
_COMPARING = re.compile(r"(?<![\w/.-])(?:[ef]?grep|diff|cmp|comm)(?![\w/.-])")
_EQUALS_BEFORE = re.compile(r"\s[!=]?=\s*$")
_PRINTING = re.compile(r"(?<![\w/.-])(?:echo|printf)(?![\w/.-])")
_INTO = re.compile(r">\s*\"?([\w./$@{}-]+)")
_ASSIGNED = re.compile(r"(?<![\w$])(\w+)=$")
_ASSIGNED_OUTPUT = re.compile(r"(?<![\w$])(\w+)=\"?\$\(")
_EQUALS = re.compile(r"\s[!=]?=\s")
_VARIABLE = re.compile(r"\$\{?(\w+)")
_FILE = re.compile(r"[\w.@{}$-]+")
_SEPARATOR = re.compile(r"[\n;|&]")
_ESCAPED = re.compile(r"\\([][.*^$+?(){}|/\"-])")


class _Compared:
    """What stands on the lines of a script that compare something: variables, names of files."""

    def __init__(self, script: str) -> None:
        lines = [line for line in script.split("\n") if _COMPARING.search(line) or _EQUALS.search(line)]
        self.variables = set(_VARIABLE.findall("\n".join(lines)))
        self.names = {name for name in _FILE.findall("\n".join(lines)) if len(name) > 1}

    def has_file(self, line: str) -> bool:
        """Whether a line writes a file that is compared."""
        targets = (target.rsplit("/", 1)[-1] for target in _INTO.findall(line) if not target.startswith("/dev"))
        return any(target in self.names for target in targets)


def expected_in_shell(script: str) -> Iterator[str]:
    """The texts, as they are written but for the quotes; what the shell puts together is not among them."""
    plain = _COMMENT.sub("", script)
    compared = _Compared(plain)
    for doc in heredocs(script):
        line = script[script.rfind("\n", 0, doc.start) + 1 : script.find("\n", doc.start)]
        assigned = _ASSIGNED_OUTPUT.search(line)
        if _COMPARING.search(line) or compared.has_file(line) or (assigned and assigned[1] in compared.variables):
            yield doc.body
    for text, before, after in _quoted(plain):
        if _is_expected(before, after, compared):
            yield _ESCAPED.sub(r"\1", text.removeprefix("^").removesuffix("$"))


def _quoted(script: str) -> Iterator[tuple[str, str, str]]:
    """Quoted texts, each with what stands before it in its command and after it on its line."""
    command, place = "", 0
    for match in _TOKEN.finditer(script):
        pieces = _SEPARATOR.split(script[place : match.start()])
        command = (command + pieces[0] if len(pieces) == 1 else pieces[-1])[-1000:]
        place = match.end()
        text = match[1] if match[1] is not None else match[2]
        if text is not None:
            end = script.find("\n", place)
            after = script[place : min(end if end >= 0 else len(script), place + 300)]
            if match[1] is not None or "$" not in text:
                yield text, command, after
            command += " Q " if not command.endswith(("=", " ")) else "Q"


def _is_expected(before: str, after: str, compared: _Compared) -> bool:
    if _COMPARING.search(before) or _EQUALS_BEFORE.search(before) or _EQUALS.match(after):
        return True
    assigned = _ASSIGNED.search(before)
    if assigned:
        return assigned[1] in compared.variables
    piped = "|" in after and _COMPARING.search(after) is not None
    return _PRINTING.search(before) is not None and (piped or compared.has_file(before + after))
