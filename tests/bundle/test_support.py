"""What cannot be run here is named, and what can be is let through."""

from __future__ import annotations

import pytest

from envs_forge.bundle.env import resolve_env
from envs_forge.bundle.support import unsupported

from .samples import TOML, sample

COMPOSE = "environment/docker-compose.yaml"


def codes(changes: dict[str, str]) -> list[str]:
    return [finding.code for finding in unsupported(sample(changes))]


def test_a_plain_task_is_supported() -> None:
    assert codes({}) == []


def test_a_separate_verifier_is_supported() -> None:
    toml = TOML + '[[artifacts]]\nsource = "/app"\n[verifier]\nenvironment_mode = "separate"\n'
    assert codes({"task.toml": toml, "tests/Dockerfile": "FROM debian:12.11-slim\n"}) == []


@pytest.mark.parametrize(
    ("toml", "code"),
    [
        ("gpus = 1\n", "gpu"),
        ('tpu = {type = "v4", topology = "2x2"}\n', "tpu"),
        ('os = "windows"\n', "windows"),
        ('healthcheck = {command = "true"}\n', "healthcheck"),
        ('[[environment.mcp_servers]]\nname = "x"\n', "mcp-servers"),
        ('[[steps]]\nname = "one"\n', "multi-step"),
        ('[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.org"]\n', "allowed-hosts"),
        ('[[artifacts]]\nsource = "/app"\nservice = "db"\n[verifier.environment]\n', "sidecar-artifacts"),
        ('[[artifacts]]\nsource = "//"\n[verifier.environment]\n', "whole-filesystem"),
        ('[verifier]\nenvironment_mode = "separate"\n[[verifier.collect]]\ncommand="x"\nservice="db"\n',
         "sidecar-artifacts"),
        ("[verifier.environment]\ngpus = 1\n", "gpu"),
        ('[verifier.environment.env]\nA = "${B}"\n', "host-variables"),
        ('[verifier.env]\nKEY = "${OPENAI_API_KEY}"\n', "host-variables"),
    ],
)  # fmt: skip
def test_what_the_configuration_asks_for(toml: str, code: str) -> None:
    assert codes({"task.toml": TOML + toml}) == [code]


@pytest.mark.parametrize(
    ("compose", "expected"),
    [
        ("services:\n  main:\n    build: .\n    network_mode: none\n", []),
        ("services:\n  main: {depends_on: [db]}\n  db:\n    image: postgres:16\n", []),
        ("services:\n  main: {}\n  db: {image: a, privileged: true}\n", ["compose-refused"]),
        ("services:\n  main: {cap_add: [ALL]}\n  db: {image: a}\n", ["compose-keys"]),
        ("services:\n  main: {build: {context: ./other}}\n", ["compose-keys"]),
        ("services:\n  main:\n    privileged: true\n", ["compose-keys"]),
        ("services: [1\n", ["compose-unreadable"]),
        ("a: &a [*a]\n", ["compose-unreadable"]),
        ("just text", ["compose-unreadable"]),
    ],
)
def test_compose_files(compose: str, expected: list[str]) -> None:
    assert codes({COMPOSE: compose}) == expected


def test_a_compose_file_has_the_last_word_on_the_network() -> None:
    public = TOML.replace("no-network", "public")
    cut = "services:\n  main:\n    network_mode: none\n"
    assert sample({"task.toml": public}).config.environment.network
    assert not sample({"task.toml": public, COMPOSE: cut}).config.environment.network
    assert sample({COMPOSE: cut.replace("none", "bridge")}).config.environment.network
    assert not sample({COMPOSE: "services:\n  main: {}\n"}).config.environment.network


def test_templates_are_whole_values() -> None:
    env = {"A": "${X}", "B": "${Y:-d:e}", "C": "pre ${X}", "D": "${Z}", "E": "${Y:-}", "F": "$X"}
    resolved, missing = resolve_env(env, {"X": "1"})
    assert resolved == {"A": "1", "B": "d:e", "C": "pre ${X}", "E": "", "F": "$X"}
    assert missing == ["Z"]
