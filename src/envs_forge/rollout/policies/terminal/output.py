"""What a command wrote, as a model can be shown it."""

from __future__ import annotations


def shown(output: bytes, limit: int) -> str:
    """Text of at most about `limit` characters: the beginning and the end, with a note of what is left out between.

    Args:
        output: Bytes of any encoding; what is no UTF-8 becomes U+FFFD, and so do NULs.
        limit: Characters kept.
    """
    text = output.decode("utf-8", errors="replace").replace("\0", "\ufffd")
    if len(text) <= limit:
        return text
    head = limit // 2
    tail = limit - head
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[{left_out} characters left out here]\n{text[-tail:]}"
