"""A JSON document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value


@dataclass(frozen=True, slots=True)
class Document(Value):
    """JSON data. Answers are equal when they mean the same: order of keys and layout do not count."""

    reader = "document"
    suffix = ".json"
    source = "document"

    data: Any

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """One indented JSON file."""
        return {path: BundleFile(data=(json.dumps(self.data, indent=2, ensure_ascii=False) + "\n").encode())}

    def canon(self) -> list[str]:
        """One `path = value` a leaf, in the order of the paths."""
        return sorted(_leaves(self.data, ""))


def _leaves(data: Any, path: str) -> Iterator[str]:
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from _leaves(value, f"{path}/{key}")
    elif isinstance(data, list) and data:
        for i, value in enumerate(data):
            yield from _leaves(value, f"{path}/{i}")
    else:
        whole = isinstance(data, float) and data.is_integer()
        yield f"{path} = {json.dumps(int(data) if whole else data, ensure_ascii=False)}"
