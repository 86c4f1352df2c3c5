"""Answers as one JSON object instead of blocks.

`{"files": {PATH: TEXT, …}}`, `{"files": [{"path": PATH, "content": TEXT, "mode": "755"}, …]}` or `{PATH: TEXT, …}`,
with `"meta": {…}` and `"keep": [PATH, …]` beside the files. The object may stand in a fence or in prose, also behind
other objects, which hold no files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.llm.envelope import (
    Envelope,
    EnvelopeLimits,
    FaultError,
    add_file,
    decoded,
    encoded,
    kept_path,
    make_file,
    meta_table,
    sound_path,
)
from envs_forge.synthesis.llm.faults import AnswerFault

_START = re.compile(r"\{\s*\"")
_PATHS = ("instruction.md", "task.toml", "environment/", "solution/", "tests/")
_OURS = (*_PATHS, '"files"', '"keep"', '"meta"', '"metadata"')
"""What is in no object of mere prose. Where one with any of these does not parse, nothing of it is used."""
_MOST_OBJECTS = 100
"""Each costs a look at the whole text before it."""


class _TwiceError(Exception):
    """A key is there twice with different values."""


def json_answer(text: str, limits: EnvelopeLimits) -> Envelope:
    """The files of a JSON answer.

    Raises:
        FaultError: There is no object in it, or not one of ours.
    """
    found, start, end = _object(text)
    notes = {"json"} | ({"prose"} if text[:start].strip(" \n`json") or text[end:].strip(" \n`") else set())
    files: dict[str, BundleFile] = {}
    for path, value in _entries(found):
        notes |= {"repeated"} if add_file(files, path, _file(path, value, limits), limits) else set()
    keep = found.get("keep", ())
    if not isinstance(keep, list | tuple) or not all(isinstance(path, str) for path in keep):
        raise FaultError(AnswerFault.BAD_JSON, "`keep` is no list of paths")
    if not files and not keep:
        raise _without_files(found)
    meta = found.get("meta", found.get("metadata"))
    table = meta_table(meta) if isinstance(meta, Mapping) else {}
    return Envelope(files, table, tuple(dict.fromkeys(kept_path(path) for path in keep)), tuple(sorted(notes)))


def _object(text: str) -> tuple[dict[str, Any], int, int]:
    """The first object that speaks of files, with its beginning and its end.

    Raises:
        FaultError: There is none, or one that was meant to be it is broken.
    """
    fault: FaultError | None = None
    at = 0
    for _ in range(_MOST_OBJECTS):
        match = _START.search(text, at)
        if match is None:
            break
        start = match.start()
        try:
            found, at = json.JSONDecoder(object_pairs_hook=_once).raw_decode(text, start)
        except _TwiceError as error:
            raise FaultError(AnswerFault.DUPLICATE_FILE, f"two versions of {error}") from None
        except RecursionError:
            raise FaultError(AnswerFault.BAD_JSON, "nested too deeply") from None
        except ValueError as error:
            at = max(_read_until(text, error), match.end())
            if any(sign in text[start:at] for sign in _OURS):
                raise _bad(text, error) from None
            fault = fault or _bad(text, error)
            continue
        if _speaks_of_files(found):
            return found, start, at
        fault = fault or _without_files(found)
    raise fault or _prose(text)


def _read_until(text: str, error: ValueError) -> int:
    """How far the decoder came: of a string without an end it tells the beginning, and has read all."""
    return getattr(error, "pos", len(text)) if "Unterminated" not in str(error) else len(text)


def _speaks_of_files(found: Mapping[str, Any]) -> bool:
    return bool(found.get("files") or found.get("keep")) or any(map(_names_file, found))


def _without_files(found: Mapping[str, Any]) -> FaultError:
    return FaultError(AnswerFault.NO_FILES, f"a JSON object without files: {', '.join(map(str, found))[:200]}")


def _prose(text: str) -> FaultError:
    return FaultError(AnswerFault.NO_FILES, f"no file in: {' '.join(text[:300].split())}")


def _bad(text: str, error: ValueError) -> FaultError:
    """An object that does not parse: cut where it ends before its end, broken elsewhere, no answer if it is prose."""
    if not any(path in text for path in _PATHS):
        return _prose(text)
    at = getattr(error, "pos", 0)
    unfinished = "Unterminated string" in str(error) or at >= len(text.rstrip())
    return FaultError(AnswerFault.CUT if unfinished else AnswerFault.BAD_JSON, f"the JSON does not parse: {error}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table and table[key] != value:
            raise _TwiceError(key[:200])
        table[key] = value
    return table


def _entries(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    files = found.get("files", {key: value for key, value in found.items() if _names_file(key)})
    if isinstance(files, Mapping):
        pairs = list(files.items())
    elif isinstance(files, list):
        pairs = [(item.get("path", item.get("name")) if isinstance(item, Mapping) else None, item) for item in files]
    else:
        raise FaultError(AnswerFault.BAD_JSON, "`files` is neither an object nor a list")
    for path, value in pairs:
        if not isinstance(path, str):
            raise FaultError(AnswerFault.BAD_JSON, "a file without a path")
        yield sound_path(path), value


def _names_file(key: str) -> bool:
    return key in ("instruction.md", "task.toml") or "/" in key


def _file(path: str, value: Any, limits: EnvelopeLimits) -> BundleFile:
    table = value if isinstance(value, Mapping) else {"content": value}
    content = table.get("content", table.get("text"))
    if isinstance(content, list) and all(isinstance(line, str) for line in content):
        content = "".join(f"{line}\n" for line in content)
    if not isinstance(content, str):
        raise FaultError(AnswerFault.BAD_JSON, f"the content of {path} is no text")
    data = decoded(content, path) if table.get("encoding") == "base64" else encoded(content, path)
    return make_file(path, data, table.get("mode"), limits)
