"""What went wrong, as one line on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from pathlib import Path

import click

from envs_forge.cli.console import complain
from envs_forge.errors import DiskFullError, ForgeError, InvariantError, UserError

INTERRUPTED = 130
USAGE = 2
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_PLACE = (errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EROFS, errno.ENAMETOOLONG)


def exit_code_of(error: BaseException) -> int:
    """Say what `error` means to the reader and return the exit code of the program."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else ForgeError.exit_code
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        complain("interrupted")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return _reader_gone()
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        error = DiskFullError(f"no space left on the disk of {error.filename or Path.cwd()}")
    elif isinstance(error, OSError) and error.errno in _PLACE and error.filename is not None:
        error = UserError(f"cannot use {os.fsdecode(error.filename)}: {error.strerror}", fix="choose another place")
    if isinstance(error, ForgeError) and not isinstance(error, InvariantError):
        complain(_one_line(str(error)))
        return error.exit_code
    return _defect(error)


def _usage(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context is not None else ""
    complain(_one_line(error.format_message()) + hint)
    return USAGE


def _reader_gone() -> int:
    """The program that read our output has ended, e.g. `head`: no more output, no complaint."""
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - it must stay open until the process ends
    return 1


def _defect(error: BaseException) -> int:
    """Ours to mend. The traceback goes to a file, the reader gets its name."""
    summary = _one_line(f"{type(error).__name__}: {error}")
    try:
        complain(f"internal error: {summary} (please report it; traceback in {_write_traceback(error)})")
    except OSError:
        complain(f"internal error: {summary}")
    return ForgeError.exit_code


def _write_traceback(error: BaseException) -> Path:
    import tempfile

    from envs_forge.redaction import redact

    handle, name = tempfile.mkstemp(prefix="envs-forge-", suffix="-traceback.txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as stream:
        stream.write(redact("".join(traceback.format_exception(error))))
    return Path(name)


def _one_line(text: str) -> str:
    return " ".join(text.split())
