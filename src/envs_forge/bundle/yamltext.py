"""YAML of strangers → values, within bounds.

PyYAML's reading takes time with the square of the nesting, its aliases let a few lines stand for gigabytes, and its
constructors raise whatever their conversions do. So the events are looked at before anything is made of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MOST_BYTES = 50_000
MOST_EVENTS = 5_000
MOST_NESTED = 40
MOST_SHOWN = 1_000_000
"""Characters and items, counted each time that an alias repeats them."""


def load_yaml(data: bytes) -> Any:
    """The one document of a text, made of plain values that can be shown as text and stored as UTF-8.

    Raises:
        ValueError: It is none, or larger or more nested than what people write.
    """
    import yaml

    if len(data) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES} bytes")
    text = data.decode("utf-8-sig")
    try:
        _weigh(text)
        document = yaml.safe_load(text)
        repr(document)  # an integer may be too long to be shown
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return document


@dataclass
class _Node:
    """What an open collection comes to so far."""

    anchor: str | None = None
    weight: int = 1
    height: int = 1


def _weigh(text: str) -> None:
    """Go through the events once, and raise where they come to too much."""
    import yaml

    known: dict[str, _Node] = {}
    stack = [_Node()]
    for number, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        _bounded(number, MOST_EVENTS)
        if isinstance(event, yaml.CollectionStartEvent):
            stack.append(_Node(event.anchor))
            _bounded(len(stack), MOST_NESTED)
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            node = stack.pop()
        elif isinstance(event, yaml.AliasEvent):
            node = known[event.anchor or ""]  # not there where a collection would contain itself
        elif isinstance(event, yaml.ScalarEvent):
            node = _Node(event.anchor, 1 + len(_storable(event.value)), 0)
        else:
            continue
        if node.anchor is not None:
            known[node.anchor] = node
        parent = stack[-1]
        parent.weight, parent.height = parent.weight + node.weight, max(parent.height, node.height + 1)
        _bounded(parent.weight, MOST_SHOWN)
        _bounded(parent.height, MOST_NESTED)


def _storable(text: str) -> bytes:
    if "\0" in text:
        raise ValueError("a NUL")
    return text.encode()


def _bounded(amount: int, most: int) -> None:
    if amount > most:
        raise ValueError(f"more than {most} levels or values")
