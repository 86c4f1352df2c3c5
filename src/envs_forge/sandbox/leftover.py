"""What can be removed, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Leftover:
    """One thing that nobody needs any more.

    Attributes:
        kind: `container`, `network`, `snapshot`, `sandbox`, `disk-slot`, `half-made-layer`, `temporary-directory`,
            `image` or `layers`.
        name: What it is called.
        bytes: What its removal frees on disk, as far as that is known; else 0.
    """

    kind: str
    name: str
    bytes: int = 0
