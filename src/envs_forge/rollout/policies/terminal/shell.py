"""A shell that lasts: each command is a process of its own, and what it left of the shell goes into the next one.

Working directory, variables (exported or not), functions and umask last in bash; in an image without bash, working
directory, exported variables and umask. Options (`set -e`), aliases, traps and the job table do not. Processes in the
background live on.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cache
from importlib import resources

from envs_forge.sandbox.engine import Sandbox

STATE_LIMIT = 256 * 1024
OUTPUT_LIMIT = 4 * 1024 * 1024
"""Bytes of output that are read at all; the engines keep the first ones."""
_END = b"# end\n"
_PROBE_S = 30.0
_CLEAR = 'for __forge_name in $(compgen -e); do unset "$__forge_name"; done'


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command did. `exit_code` is None when its time was over and it was killed."""

    exit_code: int | None
    output: bytes
    duration_s: float
    timed_out: bool = False
    truncated: bool = False
    oom: bool = False
    state_kept: bool = True
    """False when the shell ended without leaving its state (killed, replaced by `exec`, too much of it)."""


class Shell:
    """The shell of one sandbox. Nothing that runs in there can make a command look ended, or ended otherwise.

    Args:
        sandbox: Where it runs.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._state = b""
        self._name = ""

    def run(self, command: str, timeout_s: float) -> Ran:
        """Run one command to its end or the end of its time; both of its streams in the order of writing.

        Raises:
            InfrastructureError: The machine failed.
        """
        result = self._sandbox.exec(
            [self._shell(), "-c", 'eval "$(cat)"'],
            timeout=timeout_s,
            stdin=self._script(command),
            output_limit=OUTPUT_LIMIT,
        )
        kept = result.stderr.endswith(_END) and len(result.stderr) <= STATE_LIMIT and b"\0" not in result.stderr
        if kept:
            self._state = result.stderr
        return Ran(
            exit_code=None if result.timed_out else result.exit_code,
            output=result.stdout,
            duration_s=result.duration_s,
            timed_out=result.timed_out,
            truncated=len(result.stdout) >= OUTPUT_LIMIT,
            oom=result.oom,
            state_kept=kept,
        )

    def _script(self, command: str) -> bytes:
        restore = b""
        if self._state:
            clear = _CLEAR if self._name == "bash" else ":"
            restore = clear.encode() + b"\neval " + _quoted(self._state) + b" 2>/dev/null"
        text = command.replace("\0", "").encode("utf-8", errors="replace")
        before, after = _template(self._name).split(b"@RESTORE@")
        middle, end = after.split(b"@COMMAND@")
        return before + restore + middle + _quoted(text) + end

    def _shell(self) -> str:
        if not self._name:
            found = self._sandbox.exec(["sh", "-c", "command -v bash"], timeout=_PROBE_S)
            self._name = "bash" if found.exit_code == 0 else "sh"
        return self._name


def _quoted(text: bytes) -> bytes:
    """Quoted for a shell, byte for byte."""
    return shlex.quote(text.decode("latin-1")).encode("latin-1")


@cache
def _template(shell: str) -> bytes:
    return resources.files(__package__).joinpath("shells", f"{shell}.sh").read_bytes()
