"""Harbor's own models read `task.toml` as we do. Set HARBOR_PYTHON to a Python 3.12 that has `harbor==0.26.*`."""

from __future__ import annotations

import json
import os
import random
import subprocess
from typing import Any

import pytest

from envs_forge.bundle import find_bundles
from envs_forge.bundle.config import parse_config

from .test_examples import TASKS

PYTHON = os.environ.get("HARBOR_PYTHON", "")
needs_harbor = pytest.mark.skipif(not PYTHON, reason="HARBOR_PYTHON is not set to a Python that has harbor 0.26")
READER = """
import json, sys, warnings
warnings.simplefilter("ignore")
from harbor.models.task.config import TaskConfig
from harbor.models.task.verifier_mode import resolve_task_verifier_mode

def read(text):
    try:
        config = TaskConfig.model_validate_toml(text)
    except ValueError:
        return None
    e, v = config.environment, config.verifier
    return [
        e.network_mode.value != "no-network", e.memory_mb or 2048, e.storage_mb or 10240, float(e.cpus or 1),
        e.gpus or 0, e.docker_image or None, e.os.value, e.env, e.build_timeout_sec, e.workdir,
        config.agent.timeout_sec or 600.0, None if config.agent.user is None else str(config.agent.user),
        v.timeout_sec, v.env,
        resolve_task_verifier_mode(config).value, config.schema_version, list(e.allowed_hosts or ()),
    ]

print(json.dumps([read(text) for text in json.load(sys.stdin)]))
"""
NETWORK = {
    "network_mode": ['"public"', '"no-network"', '"allowlist"', '"none"', "1"],
    "allowed_hosts": ["[]", '["a.org"]', '"x"'],
}
TABLES: dict[str, dict[str, list[str]]] = {
    "environment": {
        **NETWORK,
        "allow_internet": ["true", "false", '"yes"', '"false"'],
        "memory": ['"2G"', '"512M"', '"2GB"', "5", '"1.5g"', '" 3 G"', '"1e3M"'],
        "memory_mb": ["512", '"512"', "512.0", "512.5", "true", "2048"],
        "storage": ['"10G"', '"1"'],
        "storage_mb": ["10240", "1"],
        "cpus": ["1", "2.0", "0.5", '"2"', "nan", "true", "0"],
        "gpus": ["0", "1", '"1"'],
        "docker_image": ['"x"', '""', "1"],
        "os": ['"Linux"', '"WINDOWS"', '"mac"', "1"],
        "env": ["{}", '{A="b"}', "{A=1}", "{A=true}"],
        "build_timeout_sec": ["600", '"60"', "true", "1e3"],
        "workdir": ['"/x"', "1"],
        "healthcheck": ['{command="x"}', "{}"],
    },
    "agent": {**NETWORK, "timeout_sec": ["1", '"5"', "true", '"a"'], "user": ['"u"', "5", "1.5"]},
    "verifier": {
        **NETWORK,
        "timeout_sec": ["1", '"5"', "2.5"],
        "env": ["{}", '{A="b"}', "{A=1}"],
        "environment_mode": ['"shared"', '"separate"', '"x"'],
        "environment": ["{}", '{memory="1G"}', "{allow_internet=false}"],
    },
}
TOP = [
    'version = "1.0"',
    'schema_version = "1.2"',
    "version = 1",
    'artifacts = ["/a"]',
    'artifacts=[{source="/a/../b"}]',
    "metadata = 1",
    'steps = [{name="a"}]',
]
NAMES = ['"a/b"', '"a"', '"a/b..c"', '"a/b/c"']


def some_files(count: int) -> list[str]:
    """Files with a few right and wrong keys each. Values that Harbor takes and nothing could run with are left out."""
    dice = random.Random(5)
    files = []
    for _ in range(count):
        lines = [dice.choice(TOP)] if dice.random() < 0.2 else []
        for name, keys in TABLES.items():
            lines.append(f"[{name}]")
            lines += [f"{key} = {dice.choice(values)}" for key, values in keys.items() if dice.random() < 0.1]
        lines += ["[task]", f"name = {dice.choice(NAMES)}"] if dice.random() < 0.1 else []
        files.append("\n".join(lines) + "\n")
    return files


def harbors_reading(files: list[str]) -> list[Any]:
    environment = {**os.environ, "HARBOR_TELEMETRY": "0", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [PYTHON, "-c", READER], input=json.dumps(files), capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def our_reading(text: str) -> list[Any] | None:
    config, _ = parse_config(text.encode())
    if config is None:
        return None
    e = config.environment
    return [
        e.network, e.memory_mb, e.storage_mb, e.cpus, e.gpus, e.docker_image, e.os, dict(e.env), e.build_timeout_sec,
        e.workdir, config.agent_timeout_sec, config.agent_user, config.verifier_timeout_sec, dict(config.verifier_env),
        config.verifier_mode.value, config.schema_version, list(e.allowed_hosts),
    ]  # fmt: skip


@needs_harbor
def test_harbor_reads_the_same_values_and_refuses_the_same_files() -> None:
    files = some_files(1500)
    theirs = harbors_reading(files)
    assert sum(reading is not None for reading in theirs) > 300
    assert sum(reading is None for reading in theirs) > 300
    for text, reading in zip(files, theirs, strict=True):
        assert our_reading(text) == reading, text


@needs_harbor
def test_harbor_reads_the_examples() -> None:
    texts = [(path / "task.toml").read_text() for path in find_bundles(TASKS)]
    assert harbors_reading(texts) == [our_reading(text) for text in texts]
