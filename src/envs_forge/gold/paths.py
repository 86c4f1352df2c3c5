"""Which paths of the container a task speaks of: in its instruction or in its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envs_forge.bundle.model import Bundle

MOST = 40
_QUOTED = re.compile(r"(?P<q>[\"'`])(?P<path>[^\"'`\n]{1,200})(?P=q)")
_BARE = re.compile(r"(?<![\w.$}:<~/-])/[\w.@+-]+(?:/[\w.@+-]+)*")
_FILE_NAME = re.compile(r"[\w@+ -]+(?:/[\w.@+ -]+)*\.[A-Za-z][A-Za-z0-9]{0,7}|[\w.@+-]+(?:/[\w.@+-]+)+")
_LEFT_OUT = ("/tests", "/logs", "/solution", "/proc", "/sys", "/dev", "/usr", "/bin", "/sbin", "/lib", "/tmp")
_WORD = re.compile(r"(?<![\w./$~@-])[\w+-]{2,}(?:/[\w+-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/])")
"""The name of a file in running text, without quotes."""
_MAX_TEXT = 200_000


def named_paths(bundle: Bundle, workdir: str) -> list[str]:
    """Absolute paths that instruction or tests name, each once, in the order of their first mention; at most `MOST`.

    Args:
        bundle: The task.
        workdir: Where relative paths start.
    """
    found = dict.fromkeys(path for text in _texts(bundle) for path in _paths(text[:_MAX_TEXT], workdir))
    words = _WORD.findall(_QUOTED.sub("", bundle.instruction[:_MAX_TEXT]))
    found |= dict.fromkeys(path for word in words for path in _absolute(f"{workdir.rstrip('/')}/{word}"))
    return list(found)[:MOST]


def _texts(bundle: Bundle) -> Iterator[str]:
    yield bundle.instruction
    for path, file in sorted(bundle.files.items()):
        if path.startswith("tests/") and path.endswith((".sh", ".py", ".bats", ".js", ".ts", ".rb")):
            yield file.data.decode("utf-8", errors="replace")


def _paths(text: str, workdir: str) -> Iterator[str]:
    for match in _QUOTED.finditer(text):
        quoted = match["path"].strip()
        if quoted.startswith("/"):
            yield from _absolute(quoted)
        elif _FILE_NAME.fullmatch(quoted) and not quoted.startswith(("http", "-")):
            yield from _absolute(f"{workdir.rstrip('/')}/{quoted.removeprefix('./')}")
    for match in _BARE.finditer(_QUOTED.sub(_without_paths, text)):
        yield from _absolute(match[0])


def _without_paths(quoted: re.Match[str]) -> str:
    """What stands in quotes, unless it is a path and so was taken as a whole."""
    return "" if quoted["path"].strip().startswith("/") else quoted[0]


def _absolute(path: str) -> Iterator[str]:
    path = re.sub(r"/+", "/", path).rstrip("/.,;:")
    parts = path.split("/")
    if len(path) < 3 or ".." in parts or any(c in path for c in "*?$\\\0(){}<>|&") or path.startswith(_LEFT_OUT):
        return
    yield path
