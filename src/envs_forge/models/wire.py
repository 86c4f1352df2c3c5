"""What comes over the wire, made fit to be kept: JSON of any depth, text that is no text, messages of any length."""

from __future__ import annotations

import json

from envs_forge.redaction import redact

_SHOWN = 500


def parsed(text: str) -> object:
    """The JSON document that a text is.

    Raises:
        ValueError: It is none, or it is nested deeper than anything that keeps to a protocol.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def storable(text: str) -> str:
    r"""The text with halves of characters joined where both came, and U+FFFD for those that came alone.

    JSON can spell half a character (`\ud83d`), a stream may bring the halves apart, and what has a lone half
    cannot be written down as UTF-8.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def one_line(text: str) -> str:
    """What an endpoint said, as one line without secrets; cut only after they are gone, so that no part remains."""
    return " ".join(redact(storable(text)).split())[:_SHOWN]
