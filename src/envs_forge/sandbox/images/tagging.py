"""The tag of a bundle's image: a hash over everything that goes into the build."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from envs_forge.bundle.model import BundleFile

REPOSITORY = "envs-forge/env"
FORMAT = 1
"""Raised when the same inputs build another image, so that old ones are not taken for it."""


def image_tag(files: Mapping[str, BundleFile], bases: Mapping[str, str], *, network: bool) -> str:
    """The tag for the image of `files`.

    Args:
        files: The files under environment/.
        bases: Images that the Dockerfile names → what stands for them here: the id of a local image, or the empty
            string for one that comes from a registry.
        network: Whether the build has a network.
    """
    digest = hashlib.sha256()
    _add(digest, json.dumps([FORMAT, network, sorted(bases.items())]).encode())
    for path in sorted(files):
        file = files[path]
        _add(digest, path.encode("utf-8", "surrogateescape"))
        if file.target is not None:
            _add(digest, b"link", file.target.encode("utf-8", "surrogateescape"))
        else:
            _add(digest, b"file", oct(file.mode & 0o777).encode(), file.data)
    return f"{REPOSITORY}:{digest.hexdigest()[:32]}"


def _add(digest: hashlib._Hash, *parts: bytes) -> None:
    """Add parts so that no two lists of parts give the same bytes."""
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
