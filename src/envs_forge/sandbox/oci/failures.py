"""What the operating system refuses, as the package's own errors."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from envs_forge.errors import DiskFullError, EngineError


@contextmanager
def machine_errors(action: str) -> Iterator[None]:
    """Raise an `OSError` of the block as `DiskFullError` or `EngineError`.

    Args:
        action: What was being done, as in "the oci engine could not <action>".
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(f"the disk is full: the oci engine could not {action}") from error
        raise EngineError(f"the oci engine could not {action}: {error}") from error


@contextmanager
def sandbox_errors() -> Iterator[None]:
    """The same for a sandbox's own files, whose disk is its slot: a full one is not the host's."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise EngineError("the sandbox has used up its disk limit", code="sandbox-full") from error
        raise EngineError(f"the sandbox's files cannot be written: {error}", code="sandbox-files") from error
