"""Hits and near misses of the rules about files, configuration and the Dockerfile."""

# ruff: noqa: E501

from __future__ import annotations

from envs_forge.bundle import BundleFile

from .samples import DOCKERFILE, SOLVE, TEST, TOML, Changes, image, script, toml

PUBLIC = '[environment]\nnetwork_mode = "public"\n'

SEPARATE = TOML + '[verifier]\nenvironment_mode = "separate"\n'

HITS: list[tuple[str, str, Changes, int | None]] = [
    ("missing-shebang", "warning", {"tests/test.sh": TEST.split("\n", 1)[1]}, 1),
    ("not-executable", "warning", {"solution/solve.sh": BundleFile(data=SOLVE.encode(), mode=0o644)}, None),
    ("no-bash-in-image", "warning", image("FROM alpine:3.20\nRUN apk add python3\n"), 1),
    ("no-bash-in-image", "warning", image("ARG V=3.12\nFROM python:${V}-alpine\n"), 1),
    ("shell-syntax", "warning", {"solution/solve.sh": "#!/bin/bash\nif true; then\n"}, 2),
    ("python-syntax", "warning", {"tests/test_x.py": "def test_x(:\n    pass\n"}, None),
    ("left-over-files", "warning", {"tests/__pycache__/test_x.cpython-312.pyc": "x"}, None),
    ("left-over-files", "warning", {"environment/.DS_Store": "x"}, None),
    ("left-over-files", "warning", {"tests/test.sh~": "x"}, None),
    ("git-directory", "warning", {"environment/repo/.git/HEAD": "ref: refs/heads/main\n"}, None),
    ("link-crosses-parts", "warning", {"tests/data.txt": BundleFile(target="../environment/data.txt")}, None),
    ("user-cannot-install", "warning",
     {**image(DOCKERFILE + "USER app\n"), "tests/test.sh": TEST.replace("if diff", "apt-get install -y jq\nif diff")}, 2),
    ("unknown-key", "warning", toml(TOML + "\n[verifier]\ntimeout = 60\n"), 7),
    ("unknown-key", "warning", toml(TOML + "memory_gb = 2\n"), 5),
    ("unknown-key", "warning", toml('artefacts = ["x"]\n' + TOML), 1),
    ("legacy-key", "warning", toml('version = "1.0"\n' + PUBLIC), 1),
    ("legacy-key", "warning", toml('[environment]\nallow_internet = false\nmemory = "2G"\n'), 2),
    ("network-unstated", "warning", toml("[environment]\nmemory_mb = 100\n"), 1),
    ("network-unstated", "warning", toml('schema_version = "1.4"\n'), None),
    ("no-from", "error", image("RUN true\n"), 1),
    ("copy-source-missing", "error", image("FROM debian:12\nCOPY missing.txt /app/\n"), 2),
    ("copy-source-missing", "error", image('FROM debian:12\nCOPY ["no such file", "/app/"]\n'), 2),
    ("copy-source-missing", "error", image("FROM debian:12\nCOPY --chmod=755 data.txt \\\n  gone.txt /app/\n"), 2),
    ("unpinned-image", "warning", image("FROM ubuntu\n"), 1),
    ("unpinned-image", "warning", image("FROM python:latest AS x\nFROM x\n"), 1),
    ("syntax-directive", "warning", image("# syntax=docker/dockerfile:1\nFROM debian:12\n"), 1),
    ("command-is-ignored", "warning", image('FROM debian:12\nCMD ["nginx", "-g", "daemon off;"]\n'), 2),
    ("command-is-ignored", "warning", image("FROM debian:12\nCMD python3 server.py\n"), 2),
    ("unverified-download", "warning", image("FROM debian:12\nRUN curl -fsSL https://example.org/x.sh | sh\n"), 2),
    ("unverified-download", "warning", image("FROM debian:12\nADD https://example.org/x.tar.gz /opt/\n"), 2),
    ("reward-in-image", "warning", image("FROM debian:12\nRUN mkdir -p /logs/verifier && echo 0 > /logs/verifier/reward.txt\n"), 2),
    ("reward-in-image", "warning", image("FROM debian:12\nCOPY data.txt /logs/verifier/reward.json\n"), 2),
    ("verifier-image-without-tests", "warning", {**toml(SEPARATE), "tests/Dockerfile": "FROM debian:12\nRUN apt-get update\n"}, 1),
    ("bash-in-sh", "warning", {"solution/solve.sh": "#!/bin/sh\necho\n[[ -f /app/data.txt ]] && echo x\n"}, 3),
    ("bash-in-sh", "warning", {"tests/test.sh": TEST.replace("#!/bin/bash", "#!/usr/bin/env sh")}, 2),
    ("sources-agents-file", "warning", script(". /app/functions.sh\n" + TEST), 2),
    ("sources-agents-file", "warning", script("d=/app\nsource $d/lib.sh\n" + TEST), 3),
]  # fmt: skip

MISSES: list[tuple[str, Changes]] = [
    ("missing-shebang", {}),
    ("not-executable", {"solution/notes.sh": BundleFile(data=b"x", mode=0o644)}),
    ("no-bash-in-image", image("FROM alpine:3.20\nRUN apk add --no-cache bash\n")),
    ("no-bash-in-image", {**image("FROM alpine:3.20\n"), "solution/solve.sh": SOLVE.replace("bash", "sh"),
                          "tests/test.sh": TEST.replace("#!/bin/bash", "#!/bin/sh")}),
    ("no-bash-in-image", image("FROM alpine:3.20 AS build\nFROM debian:12.11-slim\n")),
    ("shell-syntax", {"solution/solve.sh": "#!/bin/bash\ncat > x <<'A' > y\nif then fi )\nA\n[[ a =~ ^(b|c)$ ]] || : \"${x:-}\"\n"}),
    ("shell-syntax", {"tests/test.sh": "#!/usr/bin/env python3\nif True:\n    print(1)\n"}),
    ("python-syntax", {"tests/test_x.py": "def test_x():\n    pass\n", "tests/broken_fixture.py": "def x(:\n"}),
    ("left-over-files", {"environment/cache/data.bak": "x", "tests/pycache.txt": "x"}),
    ("git-directory", {"environment/.gitignore": "x", "environment/git/HEAD": "x"}),
    ("link-crosses-parts", {"tests/again.sh": BundleFile(target="./test.sh")}),
    ("user-cannot-install", {**image(DOCKERFILE + "USER root\n"), "tests/test.sh": "#!/bin/bash\napt-get update\n"}),
    ("user-cannot-install", {**image(DOCKERFILE + "USER app\n"), "tests/test.sh": "#!/bin/bash\napt-get update\n",
                             "task.toml": TOML + '[verifier]\nuser = "root"\n'}),
    ("unknown-key", toml(TOML + 'env = {ANY = "x"}\n[metadata]\nanything = 1\n[metadata.deep]\nx = 1\n[verifier]\nuser = 1\n')),
    ("unknown-key", toml('version = "1.0"\n' + PUBLIC)),
    ("legacy-key", toml(TOML + '[task]\nname = "a/b"\nversion = "3"\n')),
    ("network-unstated", toml("[environment]\nallow_internet = true\n")),
    ("no-from", image("ARG TAG=12\n# FROM x\nFROM debian:${TAG}\nRUN <<E\nFROM inside\nE\n")),
    ("copy-source-missing", image("FROM debian:12 AS a\nCOPY d*.txt ./data.txt $X /app/\nCOPY . /app\nFROM a\nCOPY --from=a /x /y\n")),
    ("copy-source-missing", image("FROM debian:12\nCOPY <<EOF /app/x\nhello\nEOF\nADD https://example.org/x /x\n")),
    ("copy-source-missing", {**image("FROM debian:12\nCOPY src/ /app/\nCOPY /data.txt /app/\n"), "environment/src/a.c": "x"}),
    ("unpinned-image", image("ARG TAG=12.11-slim\nFROM debian:$TAG AS build\nFROM build\nFROM scratch\n")),
    ("unpinned-image", image(f"FROM localhost:5000/x@sha256:{'0' * 64}\n")),
    ("syntax-directive", image("FROM debian:12\n# syntax=docker/dockerfile:1\n")),
    ("command-is-ignored", image('FROM debian:12\nCMD ["/bin/bash"]\n')),
    ("command-is-ignored", image("FROM debian:12\nCMD sleep infinity\n")),
    ("unverified-download", image("FROM debian:12\nRUN curl -fsSLO https://example.org/x && sha256sum -c sums\n")),
    ("reward-in-image", image("FROM debian:12\nRUN mkdir -p /logs/verifier /app/logs/verifier/reward.d\nCOPY data.txt /app/reward.txt\n")),
    ("verifier-image-without-tests", {**toml(SEPARATE), "tests/Dockerfile": "FROM debian:12\nWORKDIR /tests\nCOPY . .\n"}),
    ("verifier-image-without-tests", {"tests/Dockerfile": "FROM debian:12\n"}),
    ("bash-in-sh", {"solution/solve.sh": '#!/bin/sh\n[ -f "/x" ] && echo "[[ <(a) <<< b ]]" # [[ x ]]\n'}),
    ("bash-in-sh", {"solution/solve.sh": "#!/usr/bin/env bash\n[[ -f /x ]] && a=(1 2)\n"}),
    ("sources-agents-file", script("source /tests/lib.sh\n. /app/.venv/bin/activate\nsource ~/.bashrc\ncat /app/data.txt\n" + TEST)),
    ("copy-source-missing", {**image("FROM debian:12\nCOPY current/a.c /app/\n"), "environment/v1/a.c": "x",
                             "environment/current": BundleFile(target="v1")}),
    ("unverified-download", image("FROM debian:12\nADD --checksum=sha256:00 https://example.org/x /x\n")),
]  # fmt: skip
