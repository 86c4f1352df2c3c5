"""Small bundles for the tests of this folder, in memory and on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from envs_forge.bundle import Bundle, BundleFile, make_bundle

TOML = """\
schema_version = "1.4"

[task]
name = "examples/sample"

[metadata]
author = "someone"  # a comment to keep

[environment]
memory_mb = 512
network_mode = "no-network"
"""

TEXTS = {
    "instruction.md": "Write `done` to /app/out.txt.\n",
    "task.toml": TOML,
    "environment/Dockerfile": "FROM debian:12.11-slim\nWORKDIR /app\n",
    "solution/solve.sh": "#!/bin/bash\necho done > /app/out.txt\n",
    "tests/test.sh": '#!/bin/bash\ngrep -qx done /app/out.txt && r=1 || r=0\necho "$r" > /logs/verifier/reward.txt\n',
}


def with_files(changes: Mapping[str, str | bytes | BundleFile | None]) -> dict[str, BundleFile]:
    """The sample's files with some replaced, added or (None) removed."""
    files: dict[str, BundleFile] = {}
    for path, content in {**TEXTS, **changes}.items():
        if isinstance(content, BundleFile):
            files[path] = content
        elif content is not None:
            data = content.encode() if isinstance(content, str) else content
            files[path] = BundleFile(data=data, mode=0o755 if path.endswith(".sh") else 0o644)
    return files


def sample(changes: Mapping[str, str | bytes | BundleFile | None] | None = None, name: str = "sample") -> Bundle:
    """A sound bundle, or one with changes."""
    return make_bundle(name, with_files(changes or {}))


def on_disk(root: Path, changes: Mapping[str, str | bytes | None] | None = None, name: str = "sample") -> Path:
    """The sample as a directory, written without the code under test."""
    for path, file in with_files(changes or {}).items():
        place = root / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.data)
        place.chmod(file.mode)
    return root / name
