"""Writes `docs/cli.md` from the command tree: `python -m envs_forge.cli.reference`.

With `--check` it writes nothing and fails when the file is not what it would write.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from envs_forge.cli.app import COMMANDS, cli
from envs_forge.config import RunConfig

FILE = Path("docs/cli.md")
_HEAD = """\
# Command line

Written by `python -m envs_forge.cli.reference`; a test keeps it true.

Exit codes: 0 done (for `run`: exactly N) · 1 short of N, or findings · 2 wrong usage, or something is missing ·
130 interrupted, with the command that goes on. Results go to stdout, progress and errors to stderr. Every error is one
line. `NO_COLOR` is honoured, and without a terminal there is no colour and no live line.

A run's settings come from a TOML file (`-c`), flags win over it. Its keys are at the end of this page; one that is not
known is refused with the nearest one that is.

"""


def reference() -> str:
    """The whole page."""
    sections = [_section("envs-forge", cli), *(_section(f"envs-forge {name}", _command(name)) for name in COMMANDS)]
    return _HEAD + "\n".join([*sections, _settings()])


def _settings() -> str:
    """Every key of a config file with its default and what its field says."""
    lines = ["## Settings", "", "| key | default | |", "|---|---|---|"]
    for key, field in _fields(RunConfig):
        default = json.dumps(field.get_default(), default=str, ensure_ascii=False)
        text = " ".join((field.description or "").split()).replace("|", "\\|")
        lines.append(f"| `{key}` | `{default}` | {text} |")
    return "\n".join(lines) + "\n"


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _fields(inner, f"{prefix}{name}.")
        else:
            yield prefix + name, field


def _command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    if found is None:
        raise LookupError(name)
    return found


def _section(title: str, command: click.Command) -> str:
    context = click.Context(command, info_name=title, terminal_width=100, max_content_width=100)
    context.help_option_names = ["-h", "--help"]
    return f"## {title}\n\n```text\n{command.get_help(context)}\n```\n"


def main() -> int:
    """Write the page, or with `--check` compare it."""
    page = reference()
    if "--check" in sys.argv[1:]:
        return 0 if FILE.is_file() and FILE.read_text("utf-8") == page else 1
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
