"""Pieces of shell code that ways put together."""

from __future__ import annotations

import shlex


def python(code: str, *arguments: str) -> str:
    """Run Python code that finds the arguments in `sys.argv[1:]`."""
    words = " ".join(shlex.quote(argument) for argument in arguments)
    return f"python3 - {words} <<'PYTHON'\n{code.strip()}\nPYTHON"


def folder_of(path: str) -> str:
    """Make the directory that `path` lies in."""
    return f'mkdir -p "$(dirname {shlex.quote(path)})"'


def script(*commands: str) -> str:
    """Several commands, one after the other."""
    return "\n".join(commands)
