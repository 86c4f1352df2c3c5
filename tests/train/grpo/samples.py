"""Tasks whose rewards a model that knows nothing can still differ in, on disk and in memory."""

from __future__ import annotations

from pathlib import Path

from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.writing import write_bundle
from sandbox.bundles import task

CHANCE = """#!/bin/bash
mkdir -p /logs/verifier
n=$(od -An -N4 -tu4 /dev/urandom)
if [ -e /app/solved ]; then echo 1; else awk -v n="$n" 'BEGIN { printf "%.9f\\n", n / 4294967296 }'; fi \\
    > /logs/verifier/reward.txt
"""
"""A reward by chance: what it teaches is nothing, but the gradient is real."""
SILENT = "#!/bin/bash\nexit 3\n"
TASK = 'schema_version = "1.4"\n[environment]\nallow_internet = false\n'
SOLVE = "#!/bin/bash\ntouch /app/solved\n"


def named(bundle: Bundle, name: str, instruction: str) -> Bundle:
    """With a name and something to read."""
    more = {"instruction.md": instruction, "task.toml": TASK}
    files = {**bundle.files, **{path: BundleFile(data=text.encode()) for path, text in more.items()}}
    return bundle.model_copy(update={"id": name, "files": files})


def chance(name: str = "chance", instruction: str = "Create the file `/app/solved`.\n") -> Bundle:
    """A task with a reward by chance for whoever does not solve it."""
    return named(task(CHANCE, SOLVE), name, instruction)


def silent(name: str = "silent") -> Bundle:
    """A task whose tests never say anything."""
    return named(task(SILENT, SOLVE), name, "Do nothing.\n")


def write(folder: Path, *bundles: Bundle) -> Path:
    """The tasks as an export has them."""
    for bundle in bundles:
        write_bundle(bundle, folder)
    return folder
