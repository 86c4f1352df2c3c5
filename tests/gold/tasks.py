"""Small tasks made in memory: a sound one, and whatever is changed about it."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import bundle_from_files

TOML = """schema_version = "1.4"

[agent]
timeout_sec = 20.0

[verifier]
timeout_sec = 20.0

[environment]
network_mode = "no-network"
build_timeout_sec = 120.0
cpus = 1
memory_mb = 512
"""
SOUND: Mapping[str, str] = {
    "instruction.md": "Write the number of lines of /app/data.txt into /app/count.txt.\n",
    "task.toml": TOML,
    "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\nCOPY data.txt /app/data.txt\n",
    "environment/data.txt": "a\nb\nc\n",
    "solution/solve.sh": "#!/bin/bash\nwc -l < /app/data.txt > /app/count.txt\n",
    "tests/test.sh": (
        "#!/bin/bash\nmkdir -p /logs/verifier\n"
        'if [ "$(tr -d " \\n" < /app/count.txt)" = 3 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n'
    ),
}


def task(name: str = "count", **changes: str | None) -> Bundle:
    """The sound task with files replaced or, with None, left out. Keys: see `KEYS`, or a path."""
    files = dict(SOUND)
    for key, text in changes.items():
        path = KEYS.get(key, key)
        if text is None:
            files.pop(path, None)
        else:
            files[path] = text
    made = {
        path: BundleFile(data=text.encode(), mode=0o755 if path.endswith(".sh") else 0o644)
        for path, text in files.items()
    }
    bundle, findings = bundle_from_files(name, made)
    assert bundle is not None, findings
    return bundle


KEYS = {
    "instruction": "instruction.md",
    "toml": "task.toml",
    "dockerfile": "environment/Dockerfile",
    "solution": "solution/solve.sh",
    "tests": "tests/test.sh",
}
