"""Rules about `task.toml`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from envs_forge.bundle.config import FILE, line_of
from envs_forge.gold.lint.registry import WARNING, Hit, rule
from envs_forge.gold.lint.task import Task

_PHASE = {"network_mode", "allowed_hosts"}
_ENVIRONMENT = _PHASE | {
    "build_timeout_sec", "docker_image", "os", "cpus", "memory_mb", "storage_mb", "gpus", "gpu_types", "tpu",
    "mcp_servers", "env", "skills_dir", "healthcheck", "workdir",
}  # fmt: skip
KEYS: dict[str, set[str]] = {
    "": {
        "schema_version", "task", "metadata", "verifier", "agent", "environment", "solution", "source",
        "multi_step_reward_strategy", "steps", "artifacts",
    },
    "task": {"name", "version", "description", "authors", "keywords"},
    "agent": _PHASE | {"timeout_sec", "user"},
    "verifier": _PHASE | {"timeout_sec", "env", "user", "environment_mode", "environment", "collect"},
    "solution": {"env"},
    "environment": _ENVIRONMENT,
    "verifier.environment": _ENVIRONMENT,
}  # fmt: skip
"""Table → the keys that Harbor's schema 1.4 knows there; `metadata` and `env` hold anything."""
LEGACY = {
    "version": "schema_version",
    "environment.memory": "memory_mb",
    "environment.storage": "storage_mb",
    "environment.allow_internet": "network_mode",
}


def _tables(task: Task) -> Iterator[tuple[str, Mapping[str, object]]]:
    for name in KEYS:
        table: object = task.toml
        for part in filter(None, name.split(".")):
            table = table.get(part) if isinstance(table, Mapping) else None
        if isinstance(table, Mapping):
            yield name, table


@rule("unknown-key", WARNING, "a key that the schema does not know", fix="correct it, or move it to [metadata]")
def unknown_key(task: Task) -> Iterator[Hit]:
    """Harbor ignores it without a word, so a typing error costs a limit or a time-out."""
    for name, table in _tables(task):
        for key in table:
            path = f"{name}.{key}".lstrip(".")
            if key in KEYS[name] or path in LEGACY:
                continue
            near = difflib.get_close_matches(key, KEYS[name], n=1)
            hint = f", did you mean {near[0]}?" if near else ""
            yield Hit(f"{path} is ignored{hint}", FILE, line_of(task.toml_text, path.split(".")))


@rule("legacy-key", WARNING, "a key of an older schema", fix="use the new key")
def legacy_key(task: Task) -> Iterator[Hit]:
    """Still read, but deprecated."""
    for name, table in _tables(task):
        for key in table:
            path = f"{name}.{key}".lstrip(".")
            if path in LEGACY:
                yield Hit(f"{path} is now {LEGACY[path]}", FILE, line_of(task.toml_text, path.split(".")))


@rule("network-unstated", WARNING, "the file does not say whether there is a network", fix="set network_mode")
def network_unstated(task: Task) -> Iterator[Hit]:
    """Readers take a missing key for a public network."""
    table = task.toml.get("environment")
    keys = set(table) if isinstance(table, Mapping) else set()
    if not keys & {"network_mode", "allow_internet", "allowed_hosts"}:
        yield Hit("no network_mode in [environment]: public by default", FILE, line_of(task.toml_text, ["environment"]))
