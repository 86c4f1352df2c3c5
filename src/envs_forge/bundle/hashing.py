"""The content hash: a bundle's identity, whatever its name, its order on disk or the layout of its TOML."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from typing import Any

from envs_forge.bundle.config import FILE
from envs_forge.bundle.model import Bundle, BundleFile

_FORMAT = b"envs-forge bundle 1\n"


def content_hash(bundle: Bundle) -> str:
    """Sha256 in hex over paths, contents, run bits, link targets and what `task.toml` means.

    Left out: the bundle's id, the order of files, permission bits but the owner's run bit, layout and comments
    of `task.toml`, and its `[metadata.envs_forge]` table, so that provenance can name the hash.
    """
    digest = hashlib.sha256(_FORMAT)
    for path in sorted(bundle.files, key=str.encode):
        for field in (path.encode(), *_fields(path, bundle.files[path])):
            digest.update(len(field).to_bytes(8, "big"))
            digest.update(field)
    return digest.hexdigest()


def _fields(path: str, file: BundleFile) -> tuple[bytes, bytes]:
    if file.target is not None:
        return b"link", file.target.encode()
    if path == FILE:
        return b"toml", _meaning(file.data)
    return (b"run" if file.mode & 0o100 else b"file"), file.data


def _meaning(data: bytes) -> bytes:
    try:
        table = tomllib.loads(data.decode().replace("\r\n", "\n"))
    except ValueError:
        return data
    metadata = table.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("envs_forge", None)
        if not metadata:
            del table["metadata"]
    return json.dumps(_canonical(table), sort_keys=True, ensure_ascii=False).encode()


def _canonical(value: Any) -> Any:
    """JSON values, tagged where JSON would make two TOML values equal; 600 and 600.0 are the same number."""
    if isinstance(value, Mapping):
        return {key: _canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, str | int):
        return value
    return {"": type(value).__name__, "iso": value.isoformat()}
