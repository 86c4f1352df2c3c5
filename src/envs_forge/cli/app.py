"""The command group, and the one place where errors become a line and an exit code.

Each command is one file of this folder that exports a click command of the same name; a file is imported only when
its command is asked for or listed, so it must not import anything heavy at its top.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from envs_forge import __version__
from envs_forge.cli.failure import exit_code_of

COMMANDS = (
    "doctor",
    "lint",
    "verify",
    "clean",
    "convert",
    "measure",
    "evaluate",
    "skills",
    "plan",
    "synthesize",
    "run",
    "resume",
    "status",
    "export",
    "train",
    "compare",
    "calibrate",
    "loop",
    "report",
)
"""All commands, in the order in which help shows them."""


class LazyGroup(click.Group):
    """Imports a command's module when the command is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None when there is no such."""
        if cmd_name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(f"envs_forge.cli.{cmd_name}"), cmd_name)
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest command in the message when there is no such."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1, 0.5)
            hint = f", did you mean {near[0]!r}?" if near else f": there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="envs-forge")
def cli() -> None:
    """Make training environments for terminal agents at the edge of what a policy can do.

    Exit codes: 0 done; 1 short of N, or findings; 2 wrong usage or something is missing; 130 interrupted.
    """


def main(args: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing escapes."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    try:
        result = cli.main(list(args), prog_name="envs-forge", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        return exit_code_of(error)
    return result if isinstance(result, int) else 0


def run() -> None:
    """Entry point of the `envs-forge` program."""
    sys.exit(main(sys.argv[1:]))
