"""What does nothing is told from what looks like it."""

import pytest

from envs_forge.synthesis.overlap.document import Document
from envs_forge.synthesis.overlap.idle import shown, telling_code, without_docstrings
from envs_forge.synthesis.overlap.prints import prints_of

QUOTES = '"' * 3


@pytest.mark.parametrize(
    "line",
    ["", "  ", "# a note", "true", ":", "    pass", "true; true", "RUN true", "sleep 0  # rest", "true;"],
)
def test_a_line_without_an_effect_is_left_out(line):
    assert telling_code(f"sort a\n{line}\nuniq b\n") == ["sort a", "uniq b"]


@pytest.mark.parametrize(
    "line",
    ["#!/bin/sh", "grep x a || true", "while true", ": > file", "true > file", "x) ;;", "exit 0", "echo '#1'"],
)
def test_a_line_with_an_effect_stays(line):
    assert telling_code(line) == [line]


def test_what_is_done_in_vain_after_a_command_is_no_other_command():
    assert telling_code("sort a && true; :\n") == ["sort a"]


def test_docstrings_go_and_texts_that_are_used_stay():
    code = f"def f():\n    {QUOTES}Say\n    more.{QUOTES}\n    return 1\n"
    assert telling_code(code) == ["def f():", "return 1"]
    used = f"WANT = {QUOTES}\none\n{QUOTES}\ncheck({QUOTES}two{QUOTES})\n"
    assert without_docstrings(used) == used
    assert without_docstrings(QUOTES * 3 + "\nx = 1 " + QUOTES).endswith(QUOTES)


def test_hidden_comments_of_an_instruction_are_not_shown():
    assert shown("Sort <!-- idle\nprose -->it.<!-- never ends").split() == ["Sort", "it."]


def test_fingerprints_have_no_comments_but_headings_count():
    plain = Document("a", "# Sort\nSort it.", "sort a", "grep b a")
    padded = Document("a", "# Sort\n<!-- words -->Sort it.", "sort a # quickly\n# much\ntrue", "grep b a\n:")
    assert prints_of(plain).words == prints_of(padded).words
    assert prints_of(plain).words[0][:2] == ("#", "sort")
