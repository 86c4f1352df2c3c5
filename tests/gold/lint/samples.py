"""A bundle that no rule objects to, and a way to change it."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle import Bundle, BundleFile, make_bundle

Changes = Mapping[str, str | BundleFile | None]
TOML = """\
schema_version = "1.4"

[environment]
network_mode = "no-network"
"""
DOCKERFILE = "FROM debian:12.11-slim\nWORKDIR /app\nCOPY data.txt /app/\n"
SOLVE = "#!/bin/bash\nset -e\nsort /app/data.txt > /app/sorted.txt\nwc -l < /app/data.txt > /app/count.txt\n"
TEST = """\
#!/bin/bash
if diff <(sort /app/data.txt) /app/sorted.txt; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
"""
CLEAN: Changes = {
    "instruction.md": "Sort the lines of /app/data.txt into /app/sorted.txt, and count them in /app/count.txt.\n",
    "task.toml": TOML,
    "environment/Dockerfile": DOCKERFILE,
    "environment/data.txt": "b\na\n",
    "solution/solve.sh": SOLVE,
    "tests/test.sh": TEST,
}


def changed(changes: Changes) -> Bundle:
    """The clean bundle with files replaced, added or (None) removed."""
    files = {}
    for path, content in {**CLEAN, **changes}.items():
        if isinstance(content, BundleFile):
            files[path] = content
        elif content is not None:
            files[path] = BundleFile(data=content.encode(), mode=0o755 if path.endswith(".sh") else 0o644)
    return make_bundle("sample", files)


def script(body: str, *, head: str = "#!/bin/bash\n") -> Changes:
    """A test script that keeps the files of the clean one."""
    return {"tests/test.sh": head + body}


def python_test(body: str) -> Changes:
    """A Python test run by a sound script."""
    script = "#!/bin/bash\npython3 -m pytest /tests/test_it.py && r=1 || r=0\necho $r > /logs/verifier/reward.txt\n"
    dockerfile = DOCKERFILE.replace("WORKDIR", "RUN pip install pytest==8.3.5\nWORKDIR")
    return {"tests/test.sh": script, "tests/test_it.py": body, "environment/Dockerfile": dockerfile}


def image(body: str, **more: str) -> Changes:
    """Another Dockerfile."""
    return {"environment/Dockerfile": body, **more}


def toml(body: str) -> Changes:
    """Another task.toml."""
    return {"task.toml": body}
