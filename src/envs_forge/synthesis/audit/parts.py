"""The five parts of a bundle, and what each means: layout, comments and names of files left aside."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping
from functools import lru_cache

from envs_forge.bundle.model import Bundle, BundleFile, Part
from envs_forge.bundle.syntax import parse_source
from envs_forge.synthesis.bounded import FILE_CHARS, bounded, within_budget

_IMAGE = re.compile(r"environment/(?:.*/)?(?:[\w.-]*Dockerfile[\w.-]*|docker-compose[\w.-]*|\.dockerignore)")
_COMMENT = re.compile(r"(?:^|(?<=\s))#(?!!).*$")
_WORD = re.compile(r"[\w./@%+-]*\w|[<>=]+")
_GROUPING = frozenset("(){};") | {"then", "do", "else", "fi", "done", "esac", ";;"}
_SETTINGS = ("#", "set ", "cd ", "export ")
_CODE = (".sh", ".bash", ".yaml", ".yml", ".toml", ".cfg")


def part_of(path: str) -> Part | None:
    """The part that a file belongs to; None for `task.toml` and what stands beside."""
    if path == "instruction.md":
        return Part.INSTRUCTION
    if path.startswith("solution/"):
        return Part.SOLUTION
    if path.startswith("tests/"):
        return Part.TESTS
    if path.startswith("environment/"):
        return Part.IMAGE if _IMAGE.fullmatch(path) else Part.DATA
    return None


def files_of(bundle: Bundle, part: Part) -> Mapping[str, BundleFile]:
    """The files of a part, by path."""
    return {path: file for path, file in sorted(bundle.files.items()) if part_of(path) is part}


def texts_of(bundle: Bundle, part: Part) -> Mapping[str, str]:
    """The text files of a part, by path, within the bounds of `bounded.py`; JSON is not cut, or it would not parse."""
    texts = ((path, text_of(file)) for path, file in files_of(bundle, part).items())
    cut = ((path, text if path.endswith(".json") else bounded(text)) for path, text in texts if text is not None)
    return within_budget(cut)


def solution_commands(bundle: Bundle) -> tuple[str, ...]:
    """Lines of the solution that do something; comments, brackets and settings of the shell alone do not."""
    lines = (line.strip() for text in texts_of(bundle, Part.SOLUTION).values() for line in text.split("\n"))
    return tuple(line for line in lines if line and line not in _GROUPING and not line.startswith(_SETTINGS))


def text_of(file: BundleFile) -> str | None:
    """A file as text with LF; None for links and binary files."""
    if file.target is not None or b"\0" in file.data[:8192]:
        return None
    return file.data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def meaning_of(bundle: Bundle, part: Part) -> tuple[str, ...]:
    """What a part says. Equal meanings mean that nothing was changed but layout, comments, or names of files.

    A bundle without files of data makes its data when the image is built: then the Dockerfile counts as data too.
    """
    files = files_of(bundle, part)
    if part is Part.DATA and not files:
        files = files_of(bundle, Part.IMAGE)
    if part is Part.INSTRUCTION:
        return (_prose(bundle.instruction),) if len(bundle.instruction) < FILE_CHARS else (bundle.instruction,)
    return tuple(sorted(_meaning(path, file) for path, file in files.items()))


def _meaning(path: str, file: BundleFile) -> str:
    text = text_of(file)
    if file.target is not None:
        return f"link {file.target}"
    if text is None:
        return file.data.hex()
    first = text.split("\n", 1)[0]
    if len(text) > FILE_CHARS:
        return text
    if path.endswith(".py") or (first.startswith("#!") and "python" in first):
        return _python(text)
    if path.endswith(".json"):
        return _json(text)
    if path.endswith(_CODE) or first.startswith("#!") or _IMAGE.fullmatch(path):
        return _code(text)
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip())


def _prose(text: str) -> str:
    shown = [text.partition("<!--")[0], *(part.partition("-->")[2] for part in text.split("<!--")[1:])]
    return " ".join(_WORD.findall(bounded(" ".join(shown)).lower()))


def _json(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return " ".join(text.split())


def _code(text: str) -> str:
    lines = (" ".join(_COMMENT.sub("", line).split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


@lru_cache(maxsize=256)
def _python(text: str) -> str:
    tree = _parsed(text)
    if tree is None:
        return _code(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return ast.dump(tree)


@lru_cache(maxsize=256)
def parse_python(text: str) -> ast.Module | None:
    """The syntax tree, not to be changed; None when it is no Python. The text is parsed, never run."""
    return _parsed(text)


def _parsed(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return parse_source(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
