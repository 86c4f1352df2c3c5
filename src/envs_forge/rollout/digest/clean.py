"""One printable line out of whatever a sandbox printed."""

from __future__ import annotations

import re

from envs_forge.redaction import redact

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)", re.DOTALL)
_LONGEST_READ = 20_000


def one_line(text: str, most: int) -> str:
    """`text` redacted, without escapes and control or direction characters, white space collapsed, the middle left out.

    Args:
        text: Hostile text of any length.
        most: Characters of the result.
    """
    # Whole before it is cut: half a secret would not be found.
    plain = _ESCAPES.sub("", redact(text)) if len(text) <= _LONGEST_READ else _both_ends(redact(text), _LONGEST_READ)
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in _ESCAPES.sub("", plain)).split())
    return _both_ends(line, most)


def _both_ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = (most - 3) * 2 // 3
    return f"{text[:head]} … {text[len(text) - (most - 3 - head) :]}"
