"""`task.toml` of a candidate: the seed's, with what a model may set laid over it.

A model decides how long its task takes and what it weighs, within bounds. It never decides on networks, images from
elsewhere, variables of the host or other users: where it tries to, the answer is refused, not mended.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs_forge.bundle.config import toml_table
from envs_forge.bundle.model import Bundle
from envs_forge.synthesis.llm.envelope import FaultError
from envs_forge.synthesis.llm.faults import AnswerFault

BOUNDS: Mapping[str, tuple[float, float]] = {
    "agent.timeout_sec": (10, 3600),
    "verifier.timeout_sec": (5, 1800),
    "environment.build_timeout_sec": (10, 1800),
    "environment.cpus": (0.1, 4),
    "environment.memory_mb": (64, 8192),
    "environment.storage_mb": (64, 20480),
}
"""Numbers that a model may set, with the least and the most of each."""
_TEXTS = ("metadata.category", "metadata.difficulty", "metadata.tags", "task.description", "task.keywords")
_IGNORED = re.compile(r"schema_version|version|task\.name|metadata\..*|task\..*|environment\.os|solution|steps=\[\]")
_SLUG = re.compile(r"[^a-z0-9]+")
_OWN = ("envs_forge", "terminal_bench", "skills")
"""Tables of the metadata that speak of the seed alone."""


def manifest(written: bytes | None, parent: Bundle, instruction: str, skills: Sequence[str] = ()) -> bytes:
    """The bytes of a candidate's `task.toml`.

    Args:
        written: What the model wrote, if it did.
        parent: The seed.
        instruction: The candidate's, whose first words name the task.
        skills: Those that the answer declares; where there are none, the texts tell.

    Raises:
        FaultError: It cannot be read, or asks for what a candidate may not have.
    """
    import tomlkit

    table = toml_table(parent.files["task.toml"].data)
    metadata = {key: value for key, value in table.get("metadata", {}).items() if key not in _OWN}
    task = {key: value for key, value in table.get("task", {}).items() if key not in ("description", "keywords")}
    metadata |= {"skills": list(skills)} if skills else {}
    table |= {"metadata": metadata, "task": {**task, "name": f"envs-forge/{slug(instruction)}"}}
    for key, value in _settings(written) if written is not None else ():
        _put(table, key, _allowed(key, value, parent))
    return tomlkit.dumps({key: value for key, value in table.items() if value != {}}).encode()


def slug(text: str) -> str:
    """A name from the first line of an instruction."""
    first = next((line for line in text.lower().splitlines() if line.strip(" #")), "")
    return _SLUG.sub("-", first)[:60].strip("-") or "task"


def _settings(written: bytes) -> Iterator[tuple[str, Any]]:
    try:
        table = tomllib.loads(written.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise FaultError(AnswerFault.CONFIG, f"task.toml: {error}") from None
    for section, content in table.items():
        if isinstance(content, dict):
            yield from ((f"{section}.{key}", value) for key, value in content.items())
        else:
            yield section, content


def _allowed(key: str, value: Any, parent: Bundle) -> Any:
    """The value to set, or None where the seed's stays."""
    if key in BOUNDS:
        least, most = BOUNDS[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise FaultError(AnswerFault.CONFIG, f"task.toml: {key} must be a number from {least:g} to {most:g}")
        return value
    if key in _TEXTS:
        return value if isinstance(value, str) or _is_texts(value) else None
    if key in ("environment.network_mode", "environment.allow_internet"):
        if parent.config.environment.network or value in ("no-network", False):
            return None
        raise FaultError(AnswerFault.CONFIG, f"task.toml: {key} asks for a network, which there is not")
    if _IGNORED.fullmatch(key) or _same(key, value, parent):
        return None
    raise FaultError(AnswerFault.CONFIG, f"task.toml: {key} may not be set; leave task.toml out to keep the seed's")


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _same(key: str, value: Any, parent: Bundle) -> bool:
    """Whether the seed says the same."""
    section, _, name = key.partition(".")
    own = toml_table(parent.files["task.toml"].data).get(section)
    return bool((own.get(name) if name and isinstance(own, dict) else own) == value)


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        return
    section, _, name = key.partition(".")
    inner = table.get(section)
    table[section] = {**(inner if isinstance(inner, dict) else {}), name: value}
