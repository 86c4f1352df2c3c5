"""Was every part of the edit mask changed, and nothing that an action must not touch?"""

from __future__ import annotations

from collections.abc import Iterator

from envs_forge.bundle.compose import COMPOSE
from envs_forge.bundle.model import Bundle, Part
from envs_forge.plan.model import Projection
from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.audit.parts import files_of, meaning_of

_ALWAYS = (Part.INSTRUCTION, Part.DATA, Part.SOLUTION, Part.TESTS)
MUST_CHANGE = {
    Projection.INCREASE: _ALWAYS,
    Projection.DIVERSIFY: _ALWAYS,
    Projection.REDUCE: (*_ALWAYS, Part.IMAGE),
}
"""The edit mask: parts that each projection has to change. Increase and diversify may change the image as well."""
NAMES = {
    Part.INSTRUCTION: "the instruction",
    Part.DATA: "the data under environment/",
    Part.SOLUTION: "the solution",
    Part.TESTS: "the tests",
    Part.IMAGE: "the image (Dockerfile)",
}


def unchanged_parts(parent: Bundle, candidate: Bundle, projection: Projection) -> Iterator[Finding]:
    """Parts of the edit mask that mean what they meant before."""
    for part in MUST_CHANGE[projection]:
        if meaning_of(parent, part) == meaning_of(candidate, part):
            evidence = f"{NAMES[part]} is the same as the seed's but for layout, comments or file names"
            yield Finding(AuditCode.PART_UNCHANGED, evidence, part.value)


def forbidden_changes(parent: Bundle, candidate: Bundle) -> Iterator[Finding]:
    """Changes that no action may make: what the sandbox permits, and who judges."""
    for name, old, new in _rights(parent, candidate):
        if old != new:
            yield Finding(AuditCode.FORBIDDEN_CHANGE, f"{name} was {_shown(old)} and is {_shown(new)}", "task.toml")
    if COMPOSE in files_of(candidate, Part.IMAGE) and COMPOSE not in files_of(parent, Part.IMAGE):
        yield Finding(AuditCode.FORBIDDEN_CHANGE, "the seed needs one container, this needs a compose file", COMPOSE)


def _rights(parent: Bundle, candidate: Bundle) -> Iterator[tuple[str, object, object]]:
    old, new = parent.config, candidate.config
    if new.environment.network and not old.environment.network:
        yield "the network", "off", "on"
    if not {*new.environment.allowed_hosts} <= {*old.environment.allowed_hosts}:
        yield "the list of hosts", old.environment.allowed_hosts, new.environment.allowed_hosts
    for name in ("docker_image", "os", "gpus", "tpu", "healthcheck", "mcp_servers"):
        yield f"environment.{name}", getattr(old.environment, name), getattr(new.environment, name)
    for name in ("agent_user", "verifier_user", "verifier_mode", "verifier_env", "solution_env", "steps", "collect"):
        yield name, getattr(old, name), getattr(new, name)


def _shown(value: object) -> str:
    return repr(value) if value not in (None, "", (), {}) else "not set"
