"""Python source → syntax tree, one at a time.

CPython 3.11 counts the depth of trees that it builds in one place for all threads: two that parse at once can end in
`SystemError: AST constructor recursion depth mismatch`.
"""

from __future__ import annotations

import ast
import threading

_ONE = threading.Lock()


def parse_source(text: str | bytes) -> ast.Module:
    """As `ast.parse`, from any thread. The text is never run.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: It is no Python, or nested too deeply.
    """
    with _ONE:
        return ast.parse(text)
