"""What shell scripts, Python code, Dockerfiles and prose name: commands, imports, packages, paths.

Read by patterns, not by a parser: good enough to see what a script uses, and unable to fail on what is no script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1[^\n]*\n(.*?)^[ \t]*\2[ \t]*$", re.DOTALL | re.MULTILINE)
_PYTHON = re.compile(
    r"\A#!.*python|^(?:import|from)[ \t]+[A-Za-z_][\w.]*(?:[ \t]+import\b|[ \t]*,|[ \t]+as\b|[ \t]*$)", re.M
)
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w.,\t ]+))", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_STRING = re.compile(r"'[^']*'")
_LITERAL = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_START = re.compile(r"[\n;|&(`{!]|\b(?:then|do|else|elif|if|while|until)\b")
_ASSIGNMENT = re.compile(r"\s*[A-Za-z_]\w*=(?:\"[^\"]*\"|[^\s\"]*)(?=\s)")
_WORD = re.compile(r"\s*([\w./+-]+)")
_CARRIERS = frozenset({"sudo", "exec", "command", "env", "xargs", "time", "nohup", "timeout", "nice", "builtin"})
_OPERAND = re.compile(r"-\S*|[0-9.]+[smh]?|[A-Za-z_]\w*=\S*")
_INSTALL = re.compile(r"\b(?:apt-get|apt|apk|dnf|yum)\b[^\n&;|]*?\b(?:install|add)\b([^\n&;|]*)")
_PATH = re.compile(
    r"[\w./*+-]*[\w*+-]\.[A-Za-z0-9][\w.*-]*|(?<![\w/])\.[a-z]\w+|/?(?:[\w.-]+/)+[\w.-]+|\b[Mm]akefile\b|\bcrontab\b"
)


def parts_of(script: str) -> tuple[str, str]:
    """A script's shell and the Python code in it (heredocs that look like Python, or all of it)."""
    if _PYTHON.search(script.split("\n", 1)[0]) or (_PYTHON.search(script) and "<<" not in script):
        return "", script
    python = [match[3] for match in _HEREDOC.finditer(script) if _PYTHON.search(match[3])]
    shell = _HEREDOC.sub(lambda match: "\n" if _PYTHON.search(match[3]) else match[0], script)
    return shell, "\n\n".join(python)


def commands_of(shell: str) -> Iterator[str]:
    """Words in command position, without directories: `/usr/bin/sort` is `sort`."""
    text = _STRING.sub("''", _COMMENT.sub("", shell.replace("\\\n", " ")))
    for piece in _START.split(text):
        words = _words(piece)
        if words:
            yield from words


def _words(piece: str) -> list[str]:
    """The command that a piece begins with and, where it only carries another one, that one too."""
    place, found = 0, list[str]()
    while (match := _ASSIGNMENT.match(piece, place) or _WORD.match(piece, place)) is not None:
        if match.re is _ASSIGNMENT:
            place = match.end()
            continue
        word, place = match[1].rsplit("/", 1)[-1], match.end()
        if found and _OPERAND.fullmatch(match[1]):
            continue
        found.append(word)
        if word not in _CARRIERS:
            break
    return found


def imports_of(python: str) -> frozenset[str]:
    """Modules that Python code imports, each with the packages above it."""
    found: set[str] = set()
    for match in _IMPORT.finditer(python):
        for name in (match[1] or match[2]).split(","):
            parts = name.split()[0].split(".") if name.split() else []
            found.update(".".join(parts[: depth + 1]) for depth in range(len(parts)))
    return frozenset(found)


def strings_of(python: str) -> str:
    """Texts of string literals on one line, a line each."""
    return "\n".join(match[0][1:-1] for match in _LITERAL.finditer(python))


def installed_by(dockerfile: str) -> frozenset[str]:
    """Packages that a Dockerfile installs from the distribution, without versions."""
    joined = dockerfile.replace("\\\n", " ")
    words = [word for match in _INSTALL.finditer(joined) for word in match[1].split()]
    return frozenset(word.split("=")[0] for word in words if not word.startswith("-"))


def paths_in(text: str) -> list[str]:
    """Words that look like the name of a file."""
    return [match[0].rstrip(".") for match in _PATH.finditer(text)]
