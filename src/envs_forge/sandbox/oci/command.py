"""One command as the sandbox's PID 1 wants it: a memory file with everything that the new process needs."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envs_forge.sandbox.oci.users import Identity

HEAD = struct.Struct("=5Q4I")
"""`struct request` of init.c: size, cwd, argv, envp, groups; group_count, uid, gid, reserved."""
POINTER = 8


class BadCommand(Exception):
    """The command cannot exist on any machine (empty, or a NUL byte in it); the text says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to run and how; see `Sandbox.exec`."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    who: Identity

    def encode(self) -> bytes:
        """The request's bytes.

        Raises:
            BadCommand: It cannot be expressed.
        """
        if not self.argv:
            raise BadCommand("no command")
        argv = [_text(argument) for argument in self.argv]
        envp = [_text(f"{key}={value}") for key, value in self.env.items()]
        cwd = _text(self.cwd)
        argv_at = HEAD.size
        envp_at = argv_at + POINTER * (len(argv) + 1)
        groups_at = envp_at + POINTER * (len(envp) + 1)
        offset = groups_at + 4 * len(self.who.groups)
        offsets = []
        for text in (cwd, *argv, *envp):
            offsets.append(offset)
            offset += len(text)
        head = HEAD.pack(
            offset, offsets[0], argv_at, envp_at, groups_at, len(self.who.groups), self.who.uid, self.who.gid, 0
        )
        tables = [*offsets[1 : len(argv) + 1], 0, *offsets[len(argv) + 1 :], 0]
        groups = struct.pack(f"={len(self.who.groups)}I", *self.who.groups)
        return b"".join([head, struct.pack(f"={len(tables)}Q", *tables), groups, cwd, *argv, *envp])


def memory_file(name: str, content: bytes) -> int:
    """A descriptor of an anonymous file with `content`, read from its start."""
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _text(value: str) -> bytes:
    if "\0" in value:
        raise BadCommand("a NUL byte in the command, its environment or its directory")
    try:
        return value.encode("utf-8", "surrogateescape") + b"\0"
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace") + b"\0"
