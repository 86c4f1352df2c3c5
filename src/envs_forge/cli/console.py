"""Where text goes: results on stdout, everything else on stderr. Colour only on a terminal and never with NO_COLOR."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any

import click


def colour_allowed(stream: IO[str]) -> bool:
    """Whether `stream` may get escape sequences: https://no-color.org, and a terminal that is not dumb."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def say(text: str = "") -> None:
    """A line of the result, on stdout."""
    click.echo(text, color=colour_allowed(sys.stdout))


def note(text: str) -> None:
    """A line about progress, on stderr."""
    click.echo(text, err=True, color=colour_allowed(sys.stderr))


def complain(text: str) -> None:
    """What went wrong, one line on stderr."""
    from envs_forge.redaction import redact

    note(click.style("Error:", fg="red", bold=True) + f" {redact(text)}")


def show_json(value: Any) -> None:
    """The result as one JSON document on stdout."""
    say(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> None:
    """Rows in aligned columns on stdout.

    Args:
        headings: Names of the columns.
        rows: Cells as text.
        right: Columns that are aligned on the right, counted from 0.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        padded = (c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        return "  ".join(padded).rstrip()

    say(click.style(line(headings), bold=True))
    for row in cells:
        say(line(row))


def printable(text: str) -> str:
    """Without control characters: names come from directories of strangers."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
