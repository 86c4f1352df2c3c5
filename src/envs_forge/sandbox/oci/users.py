"""Who a command runs as: USER of a Dockerfile, looked up in the sandbox's own passwd and group files.

The files are the sandbox's, so they are hostile: they are opened inside the root, must be regular and short, and
lines that make no sense are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from envs_forge.sandbox.oci.rootfs import Root

LONGEST = 1024 * 1024
HIGHEST_ID = 2**31 - 1
MOST_GROUPS = 1024


class UnknownUser(Exception):
    """There is no such user or group in the sandbox."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Numbers of a user, and the home directory."""

    uid: int = 0
    gid: int = 0
    groups: tuple[int, ...] = ()
    home: str = "/root"


def identify(root: Root, user: str) -> Identity:
    """Resolve `name`, `uid`, `name:group` and so on; empty is root.

    Raises:
        UnknownUser: The name is not in the files, or the number is out of range.
    """
    name, _, group = (user or "0").partition(":")
    uid, gid, home, login = _user(root, name or "0")
    if group:
        return Identity(uid, _group(root, group), (), home)
    return Identity(uid, gid, tuple(_memberships(root, login)) if login else (), home)


def _user(root: Root, name: str) -> tuple[int, int, str, str]:
    for fields in _lines(root, "/etc/passwd", 7):
        uid, gid = _number(fields[2]), _number(fields[3])
        if uid is not None and gid is not None and name in (fields[0], fields[2]):
            return uid, gid, fields[5] or "/", fields[0]
    number = _number(name)
    if number is None:
        raise UnknownUser(f"no user {name!r} in the sandbox")
    return number, 0, "/root" if number == 0 else "/", ""


def _group(root: Root, name: str) -> int:
    for fields in _lines(root, "/etc/group", 4):
        gid = _number(fields[2])
        if gid is not None and name in (fields[0], fields[2]):
            return gid
    number = _number(name)
    if number is None:
        raise UnknownUser(f"no group {name!r} in the sandbox")
    return number


def _memberships(root: Root, login: str) -> Iterator[int]:
    found: set[int] = set()
    for fields in _lines(root, "/etc/group", 4):
        gid = _number(fields[2])
        if gid is not None and gid not in found and login in fields[3].split(",") and len(found) < MOST_GROUPS:
            found.add(gid)
            yield gid


def _lines(root: Root, path: str, width: int) -> Iterator[list[str]]:
    for line in root.read(path, LONGEST).decode("utf-8", "surrogateescape").splitlines():
        fields = line.split(":")
        if len(fields) == width:
            yield fields


def _number(text: str) -> int | None:
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        return None
    value = int(text)
    return value if value <= HIGHEST_ID else None
