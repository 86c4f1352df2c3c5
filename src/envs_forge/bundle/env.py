"""Templates in the `env` tables of `task.toml`: values that the host is to supply."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TEMPLATE = re.compile(r"\$\{([^}:]+)(?::-(.*))?\}", re.DOTALL)


def resolve_env(env: Mapping[str, str], host: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Fill in `${NAME}` and `${NAME:-default}` where one is the whole value, as Harbor does.

    Args:
        env: A table such as `EnvironmentConfig.env`.
        host: The host's variables that a bundle may see.

    Returns:
        The variables that have a value, and the host's names that are missing and have no default.
    """
    resolved: dict[str, str] = {}
    missing: list[str] = []
    for name, value in env.items():
        match = _TEMPLATE.fullmatch(value)
        if match is None:
            resolved[name] = value
        elif match[1] in host:
            resolved[name] = host[match[1]]
        elif match[2] is not None:
            resolved[name] = match[2]
        else:
            missing.append(match[1])
    return resolved, missing
