"""Sizes as people write them."""

from __future__ import annotations

import re

from envs_forge.errors import UserError

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


def bytes_of(text: str) -> int:
    """`20G`, `500M`, `1.5 GiB` or plain bytes as a number of bytes.

    Raises:
        UserError: It is no size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UserError(f"{text!r} is no size", fix="write it like 20G or 500M")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def human(size: int) -> str:
    """A number of bytes for people: `1.5 GB`."""
    amount = float(size)
    for unit in ("bytes", "KB", "MB", "GB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TB"
