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
from envs_forge.synthesis.audit.used import used_files
from envs_forge.synthesis.bounded import FILE_CHARS, bounded, within_budget
from envs_forge.synthesis.overlap.idle import shown, telling_code

_IMAGE = re.compile(r"environment/(?:.*/)?(?:[\w.-]*Dockerfile[\w.-]*|docker-compose[\w.-]*|\.dockerignore)")
_WORD = re.compile(r"[\w./@%+-]*\w|[<>=]+")
_GROUPING = frozenset("(){};") | {"then", "do", "else", "fi", "done", "esac", ";;"}
_SETTINGS = ("#", "set ", "cd ", "export ")
_DELIMITERS = " \t\r,;|\"'"
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

    Files that are empty or that nothing uses say nothing, nor do lines that do nothing. A bundle without files of data
    makes its data when the image is built: then the Dockerfile counts as data too.
    """
    if part is Part.INSTRUCTION:
        return (_prose(bundle.instruction),) if len(bundle.instruction) < FILE_CHARS else (bundle.instruction,)
    files = used_files(bundle, part, files_of(bundle, part))
    if part is Part.DATA and not files:
        files = files_of(bundle, Part.IMAGE)
    meanings = (_meaning(path, file) for path, file in files.items())
    return tuple(sorted(meaning for meaning in meanings if meaning))


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
    return "\n".join(line.rstrip() for line in text.split("\n") if line.strip(_DELIMITERS))


def _prose(text: str) -> str:
    return " ".join(_WORD.findall(bounded(shown(text)).lower()))


def _json(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return " ".join(text.split())


def _code(text: str) -> str:
    return "\n".join(telling_code(text))


@lru_cache(maxsize=256)
def _python(text: str) -> str:
    tree = _parsed(text)
    if tree is None:
        return _code(text)
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                setattr(node, field, [statement for statement in statements if not _is_idle(statement)])
    return ast.dump(tree)


def _is_idle(node: ast.AST) -> bool:
    """Docstrings and other constants, `pass`, an assertion of a constant that holds."""
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Constant) and bool(node.test.value)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


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
