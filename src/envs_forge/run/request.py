"""What was asked for in a directory that a command goes on with: the same again, or refused."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from envs_forge.config import differing_keys
from envs_forge.errors import UserError

_SHOWN = 8


def begun(path: Path, wanted: Mapping[str, Any], *, what: str, free: Collection[str] = ()) -> bool:
    """Whether a directory was begun with this request.

    Args:
        path: The file in it that keeps the request.
        wanted: What is asked for now; further keys of the file are not compared.
        what: What the directory would be, for the message.
        free: Dotted keys that may differ.

    Raises:
        UserError: It was begun with another request, which names the keys; or it holds something else.
    """
    root = path.parent
    if path.is_file():
        table = json.loads(path.read_bytes())
        keys = differing_keys({key: table.get(key) for key in wanted}, wanted)
        keys = [key for key in keys if key not in free]
        if keys:
            shown = ", ".join(keys[:_SHOWN]) + (" …" if len(keys) > _SHOWN else "")
            raise UserError(f"{root} was begun otherwise: {shown}", fix="put it back or choose another -o")
        return True
    if root.is_dir() and any(entry.name != ".in-use" for entry in root.iterdir()):
        raise UserError(f"{root} is no {what} and not empty", fix="choose another directory with -o")
    return False
