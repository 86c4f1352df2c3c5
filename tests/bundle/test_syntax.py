"""Many threads may parse at once."""

import ast
import threading

import pytest

from envs_forge.bundle.syntax import parse_source


def test_threads_that_parse_at_once_get_whole_trees():
    text = "\n".join(f"def f{n}(a):\n    return [a + {n}, (a * {n}, {{'k': a}})]" for n in range(60))
    wanted, found = ast.dump(ast.parse(text)), []
    threads = [threading.Thread(target=lambda: found.append(ast.dump(parse_source(text)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 8


def test_what_is_no_python_is_an_error():
    with pytest.raises(SyntaxError):
        parse_source("def f(:")
