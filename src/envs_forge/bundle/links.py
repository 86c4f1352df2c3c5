"""Where names and symbolic links of a bundle lead: never out of it."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from envs_forge.bundle.model import BundleFile

MAX_HOPS = 40
"""Links followed before a chain counts as a loop, as in Linux."""
MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1024


class LinkEscapesError(ValueError):
    """A link leads out of the bundle."""


class LinkLoopError(ValueError):
    """A chain of links does not end."""


def path_fault(path: str) -> str:
    """Why `path` cannot be the name of a file in a bundle, empty when it can."""
    if not path or path.startswith("/"):
        return "it is not a relative path"
    if "\0" in path:
        return "it contains a NUL byte"
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return "it is not valid UTF-8"
    if len(encoded) > MAX_PATH_BYTES:
        return f"it is longer than {MAX_PATH_BYTES} bytes"
    for name in path.split("/"):
        if name in ("", ".", ".."):
            return "it has an empty, '.' or '..' component"
        if len(name.encode()) > MAX_NAME_BYTES:
            return f"a component is longer than {MAX_NAME_BYTES} bytes"
    return ""


def resolve(path: str, links: Mapping[str, str]) -> str:
    """Follow `path` through the links of a bundle the way a kernel would.

    Args:
        path: POSIX path relative to the bundle.
        links: Path of each link → its target as written.

    Returns:
        The path without links and dots; empty for the bundle itself. It need not exist.

    Raises:
        LinkEscapesError: The way leaves the bundle, at its end or in between.
        LinkLoopError: The links go round in a circle.
    """
    done: list[str] = []
    todo = path.split("/")[::-1]
    hops = 0
    while todo:
        name = todo.pop()
        if name in ("", "."):
            continue
        if name == "..":
            if not done:
                raise LinkEscapesError(path)
            done.pop()
            continue
        target = links.get("/".join([*done, name]))
        if target is None:
            done.append(name)
            continue
        hops += 1
        if hops > MAX_HOPS:
            raise LinkLoopError(path)
        if posixpath.isabs(target):
            raise LinkEscapesError(path)
        todo.extend(target.split("/")[::-1])
    return "/".join(done)


def links_of(files: Mapping[str, BundleFile]) -> dict[str, str]:
    """Path → target of every symbolic link."""
    return {path: file.target for path, file in files.items() if file.target is not None}


def find_file(files: Mapping[str, BundleFile], path: str) -> BundleFile | None:
    """The regular file that `path` names, links inside the bundle followed; None when there is none."""
    file = files.get(path)
    if file is None or file.target is not None:
        try:
            file = files.get(resolve(path, links_of(files)))
        except ValueError:
            return None
    return file if file is not None and file.target is None else None
