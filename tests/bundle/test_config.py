"""`task.toml` is read as Harbor reads it, whatever the spelling."""

from __future__ import annotations

import pytest

from envs_forge.bundle.config import line_of, parse_config
from envs_forge.bundle.model import Artifact, Collect, TaskConfig, VerifierMode


def config_of(toml: str) -> TaskConfig:
    config, findings = parse_config(toml.encode())
    assert config is not None, findings
    return config


def faults_of(toml: str) -> list[tuple[int | None, str]]:
    config, findings = parse_config(toml.encode())
    assert config is None
    assert {f.code for f in findings} == {"toml-schema"}
    return [(f.line, f.message) for f in findings]


def test_missing_keys_have_defaults() -> None:
    config = config_of("")
    assert config == TaskConfig()
    assert config.environment.network


@pytest.mark.parametrize(
    ("toml", "network"),
    [
        ("", True),
        ("allow_internet = false", False),
        ("allow_internet = true", True),
        ('network_mode = "no-network"', False),
        ('network_mode = "public"', True),
        ('network_mode = "public"\nallow_internet = false', True),
        ('network_mode = "no-network"\nallow_internet = true', False),
        ('network_mode = "allowlist"\nallowed_hosts = ["example.org"]', True),
        ("allowed_hosts = []\nallow_internet = false", True),
    ],
)
def test_network(toml: str, network: bool) -> None:
    assert config_of(f"[environment]\n{toml}\n").environment.network is network


@pytest.mark.parametrize(
    ("toml", "memory", "storage"),
    [
        ('memory = "2G"\nstorage = "10G"', 2048, 10240),
        ('memory = "512m"\nstorage = "1.5g"', 512, 1536),
        ('memory = " 4096K "', 4, 10240),
        ("memory_mb = 100\nstorage_mb = 200", 100, 200),
        ('memory = "1G"\nmemory_mb = 1024', 1024, 10240),
        ("memory = 7", 2048, 10240),
        ("memory_mb = 0", 2048, 10240),
    ],
)
def test_sizes(toml: str, memory: int, storage: int) -> None:
    environment = config_of(f"[environment]\n{toml}\n").environment
    assert (environment.memory_mb, environment.storage_mb) == (memory, storage)


def test_a_whole_file() -> None:
    config = config_of(
        """
        version = "1.0"
        artifacts = ["/app/out", {source = "/app/log", exclude = ["*.tmp"], destination = "log"}]
        future_key = 1
        [task]
        name = "org/task"
        [metadata]
        difficulty = "easy"
        [verifier]
        timeout_sec = 30
        environment_mode = "separate"
        env = {A = "${KEY}"}
        user = 1000
        [[verifier.collect]]
        command = "dump"
        [agent]
        timeout_sec = 900.5
        user = "app"
        network_mode = "public"
        [solution]
        env = {B = "c"}
        [environment]
        build_timeout_sec = 60
        docker_image = "x:1"
        cpus = 2
        gpus = 1
        workdir = "/srv"
        os = "Linux"
        env = {C = "d"}
        healthcheck = {command = "true", retries = 9}
        [[environment.mcp_servers]]
        name = "m"
        """
    )
    assert config.schema_version == "1.0"
    assert config.name == "org/task"
    assert config.metadata == {"difficulty": "easy"}
    assert config.artifacts == (Artifact(source="/app/out"), Artifact(source="/app/log", exclude=("*.tmp",)))
    assert (config.verifier_timeout_sec, config.verifier_mode) == (30, VerifierMode.SEPARATE)
    assert (config.verifier_user, config.agent_user) == ("1000", "app")
    assert (config.agent_network, config.verifier_network) == (True, None)
    assert (config.collect, config.agent_timeout_sec) == ((Collect(command="dump"),), 900.5)
    assert (config.verifier_env, config.solution_env) == ({"A": "${KEY}"}, {"B": "c"})
    environment = config.environment
    assert (environment.build_timeout_sec, environment.docker_image, environment.cpus) == (60, "x:1", 2)
    assert (environment.gpus, environment.workdir, environment.os) == (1, "/srv", "linux")
    assert (environment.env, environment.healthcheck, environment.mcp_servers) == ({"C": "d"}, "true", 1)


def test_a_verifier_environment_means_separate() -> None:
    config = config_of('[verifier.environment]\ndocker_image = "v:1"\nmemory = "1G"\n')
    assert config.verifier_mode is VerifierMode.SEPARATE
    assert config.verifier_environment is not None
    assert config.verifier_environment.memory_mb == 1024


@pytest.mark.parametrize(
    ("toml", "line", "words"),
    [
        ('[environment]\nmemory = "2GB"\n', 2, "environment.memory: size '2GB'"),
        ('[environment]\nmemory = "2G"\nmemory_mb = 1\n', 1, "contradict"),
        ('[environment]\nnetwork_mode = "none"\n', 2, "environment.network_mode"),
        ('[environment]\nallowed_hosts = ["a.org"]\n', 1, "allowlist"),
        ("[verifier]\nallowed_hosts = []\n", 1, "allowlist"),
        ("[environment]\nenv = {PORT = 80}\n", 2, "environment.env.PORT"),
        ("[environment.env]\nA = 'x'\nPORT = 80\n", 3, "environment.env.PORT"),
        ("[environment]\ncpus = nan\n", 2, "environment.cpus"),
        ("[environment]\nos = 'beos'\n", 2, "environment.os"),
        ("[agent]\ntimeout_sec = 0\n", 2, "agent.timeout_sec"),
        ("[agent]\ntimeout_sec = inf\n", 2, "agent.timeout_sec"),
        ("[verifier]\nenvironment_mode = 'shared'\n[verifier.environment]\n", 1, "contradicts"),
        ("[task]\nname = 'no-organisation'\n", 2, "task.name"),
        ("[task]\nversion = '1'\n", 1, "task.name"),
        ("artifacts = ['/ok', '../../x']\n", 1, "artifacts.1.source"),
        ("environment = 3\n", 1, "environment"),
        ("[[steps]]\nname = 'a'\n[[steps]]\nother = 1\n", 3, "steps.1.name"),
    ],
)
def test_faults_have_a_line(toml: str, line: int, words: str) -> None:
    ((at, message),) = faults_of(toml)
    assert at == line
    assert words in message


def test_all_faults_at_once() -> None:
    assert len(faults_of("[environment]\ncpus = 'x'\nmemory_mb = -1\n[agent]\ntimeout_sec = -3\n")) == 3


def test_a_line_is_that_of_the_nearest_table() -> None:
    text = "[a]\nx = 1\n[a.b]\ny = 2\n"
    assert line_of(text, ("a", "b", "y")) == 4
    assert line_of(text, ("a", "b", "z")) == 3
    assert line_of(text, ("a", "z")) == 1
    assert line_of(text, ("z",)) is None
