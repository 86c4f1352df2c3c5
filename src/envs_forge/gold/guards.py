"""Tests that may pass before anything is done, because they guard against damage: as a bundle of ours declares them."""

from __future__ import annotations

from envs_forge.bundle.model import Bundle

KEY = "guards"
"""In the provenance: a list of the tests' names, as they report them."""


def guards_of(bundle: Bundle) -> frozenset[str]:
    """The declared names; none where there is no such list."""
    declared = bundle.provenance.get(KEY)
    return frozenset(str(name) for name in declared) if isinstance(declared, list | tuple) else frozenset()
