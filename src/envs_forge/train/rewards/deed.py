"""What a policy did to a bundle, as far as the reward can depend on it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from envs_forge.bundle.model import Bundle

DeedKey = tuple[str, str]
"""Content hash of the bundle, digest of the commands."""


@dataclass(frozen=True)
class Deed:
    """The commands that a policy ran, in one shell each and in this order, in a fresh sandbox of a bundle."""

    bundle: Bundle
    bundle_hash: str
    commands: tuple[str, ...]

    @cached_property
    def key(self) -> DeedKey:
        """Equal keys, equal deeds."""
        text = json.dumps(self.commands, ensure_ascii=False, separators=(",", ":"))
        return self.bundle_hash, hashlib.sha256(text.encode()).hexdigest()
