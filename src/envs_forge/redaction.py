"""Keeps secrets of the environment out of everything that is stored or shown.

A variable is taken for a secret by its name (`…_KEY`, `…_TOKEN`, `…_SECRET`, `…_PASSWORD`, `…_CREDENTIALS`). What a
sandboxed process or an endpoint echoes can hold its value; whoever stores such text passes it through `redact`.
Not covered: a secret in another encoding, one read from a file, and values shorter than eight characters.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping

_SECRET_NAME = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 8


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Replace the values of secret variables in `text` by `[NAME redacted]`.

    Args:
        text: Plain text or a JSON document.
        environment: Where the secrets are; default this process's environment.
    """
    variables = os.environ if environment is None else environment
    secrets = [(value, name) for name, value in variables.items() if _is_secret(name, value)]
    for value, name in sorted(secrets, key=lambda item: -len(item[0])):
        for form in {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}:
            text = text.replace(form, f"[{name} redacted]")
    return text


def _is_secret(name: str, value: str) -> bool:
    return len(value) >= _SHORTEST and _SECRET_NAME.search(name) is not None
