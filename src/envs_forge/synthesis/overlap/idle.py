"""What stands in a text and does nothing: comments, docstrings, commands without an effect. Read by patterns."""

from __future__ import annotations

import re

_DOCSTRING = re.compile(r"(\"\"\"|''')(.*?)\1", re.S)
_PREFIX = re.compile(r"[ \t]*[rRuU]?")
_COMMENT = re.compile(r"(?:^|(?<=\s))#(?!!).*$")
_NO_OPS = frozenset({":", "true", "pass", "...", "cd .", "sleep 0", "RUN true", "RUN :"})
_TAILS = ("; true", "&& true", "; :", "&& :", ";")


def telling_code(text: str) -> list[str]:
    """The lines of a script that do something, blanks evened out, in their order."""
    lines = (_telling(line) for line in without_docstrings(text).split("\n"))
    return [line for line in lines if line and line not in _NO_OPS]


def without_docstrings(text: str) -> str:
    """Python code without strings in triple quotes that are statements of their own."""

    def kept(match: re.Match[str]) -> str:
        begin = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        after = text[match.end() : end if end >= 0 else len(text)]
        alone = _PREFIX.fullmatch(text, begin, match.start()) is not None and not after.strip()
        return "" if alone else match[0]

    return _DOCSTRING.sub(kept, text)


def shown(text: str) -> str:
    """A Markdown text without what is hidden in comments."""
    return " ".join([text.partition("<!--")[0], *(part.partition("-->")[2] for part in text.split("<!--")[1:])])


def _telling(line: str) -> str:
    line = " ".join(_COMMENT.sub("", line).split())
    while line not in _NO_OPS and not line.endswith(";;") and (tail := _tail(line)):
        line = line[: -len(tail)].rstrip()
    return line


def _tail(line: str) -> str:
    return next((tail for tail in _TAILS if line.endswith(tail)), "")
