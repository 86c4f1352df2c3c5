"""Names of images: the short form that people write, and the registry that a name belongs to."""

from __future__ import annotations

HUB = "docker.io"


def registry(name: str) -> str:
    """Host of the registry that `name` is pulled from."""
    return _split(name)[0]


def familiar(name: str) -> str:
    """The name as in the base-image map: no docker.io/library/, `:latest` where there is no tag, no digest."""
    host, rest = _split(name)
    rest = rest.partition("@")[0]
    if ":" not in rest.rpartition("/")[2]:
        rest += ":latest"
    rest = rest.removeprefix("library/") if host == HUB else f"{host}/{rest}"
    return rest


def _split(name: str) -> tuple[str, str]:
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return (HUB if first in ("index.docker.io", HUB) else first), rest
    return HUB, name
