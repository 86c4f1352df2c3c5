"""What a bundle asks for that the engines here cannot give: `unsupported`, never `rejected`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from envs_forge.bundle.check import VERIFIER_COMPOSE, is_typed
from envs_forge.bundle.compose import COMPOSE, compose_finding, support_finding
from envs_forge.bundle.env import resolve_env
from envs_forge.bundle.finding import Finding, Severity
from envs_forge.bundle.model import MAIN_SERVICE, Bundle, EnvironmentConfig, VerifierMode

PARSERS = frozenset({"pytest", "swebench"})
"""Parsers of Terminal-Bench whose verdict a script can give; each of the others belongs to one benchmark."""


def unsupported(bundle: Bundle) -> list[Finding]:
    """Reasons why a sound bundle cannot be run here, as warnings with stable codes; empty when it can.

    Whether there is a network is the engine's business and not asked here.
    """
    found = [*_task(bundle), *_terminal_bench(bundle), *_environment(bundle.config.environment)]
    compose = bundle.files.get(COMPOSE)
    if compose is not None:
        finding = support_finding(COMPOSE, compose.data)
        found += [finding] if finding else []
    return found


def _task(bundle: Bundle) -> Iterator[Finding]:
    config = bundle.config
    if config.steps:
        yield _finding("multi-step", f"a task of {len(config.steps)} steps")
    if config.allowlist:
        yield _finding("allowed-hosts", "a network that is limited to some hosts")
    if config.verifier_mode is VerifierMode.SEPARATE:
        yield from _separate(bundle)
    own = config.verifier_environment
    tables = (config.environment.env, config.verifier_env, config.solution_env, own.env if own else {})
    missing = [name for env in tables for name in resolve_env(env, {})[1]]
    if missing:
        yield _finding("host-variables", f"variables of the host: {', '.join(sorted(set(missing)))}")


def _separate(bundle: Bundle) -> Iterator[Finding]:
    """What a verifier in an environment of its own asks for beyond one container and the agent's files."""
    config = bundle.config
    services = {hook.service for hook in config.collect} | {item.service or MAIN_SERVICE for item in config.artifacts}
    others = sorted(services - {MAIN_SERVICE})
    if others:
        yield _finding("sidecar-artifacts", f"files of other containers: {', '.join(others)}")
    if any(not item.source.strip("/.") for item in config.artifacts):
        yield _finding("whole-filesystem", "the agent's whole filesystem as an artifact")
    if config.verifier_environment is not None:
        yield from _environment(config.verifier_environment)
    compose = bundle.files.get(VERIFIER_COMPOSE)
    finding = compose_finding(VERIFIER_COMPOSE, compose.data) if compose is not None else None
    if finding is not None:
        yield finding


def _terminal_bench(bundle: Bundle) -> Iterator[Finding]:
    """What a converted Terminal-Bench task could not bring along."""
    origin = bundle.config.metadata.get("terminal_bench")
    if not isinstance(origin, Mapping):
        return
    if origin.get("parser") not in PARSERS:
        yield _finding("unsupported-parser", f"the parser {origin.get('parser')} of its benchmark")
    if origin.get("run_tests_in_same_shell") is True:
        yield _finding("tests-in-agent-shell", "tests that run in the agent's own shell")
    if is_typed(bundle.config):
        yield _finding("interactive-solution", "a terminal to type its solution into")


def _environment(environment: EnvironmentConfig) -> Iterator[Finding]:
    if environment.os != "linux":
        yield _finding("windows", f"containers of {environment.os}")
    if environment.gpus:
        yield _finding("gpu", f"{environment.gpus} GPUs")
    if environment.tpu:
        yield _finding("tpu", "a TPU")
    if environment.mcp_servers:
        yield _finding("mcp-servers", "MCP servers for the agent")
    if environment.healthcheck is not None:
        yield _finding("healthcheck", "a health check before the agent starts")


def _finding(code: str, what: str) -> Finding:
    return Finding(code=code, severity=Severity.WARNING, file="task.toml", message=f"needs {what}")
