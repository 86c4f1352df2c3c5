"""Exports for tests: what the index says of a bundle, and whole exports of bundled seeds."""

from __future__ import annotations

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.export.tasks import IndexLine


def line_of(bundle: Bundle) -> IndexLine:
    """A line of the index for a bundle that was accepted."""
    return IndexLine(
        id=bundle.id, path=f"tasks/{bundle.id}", content_hash=content_hash(bundle), parent="seed", parent_hash="h",
        recipe="forge", action="reduce/in_depth", seed_pass_rate=0.25, seed_k=1, seed_n=4, predicted_pass_rate=0.5,
        frontier_score=1.0, skills=("tool/jq",), generator="procedural", verdict_digest="d", isolation="fresh",
    )  # fmt: skip
