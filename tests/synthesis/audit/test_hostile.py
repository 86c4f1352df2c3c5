"""Whatever a model answers, the audit ends soon: its time does not grow with the square of a text's length."""

import pytest

from envs_forge.plan.shelltext import heredocs, parts_of
from envs_forge.synthesis.audit.check import audit
from envs_forge.synthesis.audit.expectations import expectations_of
from envs_forge.synthesis.bounded import FILE_CHARS, LINE_CHARS, PART_CHARS, bounded, within_budget

from ..scripted.faults import with_files
from .children import child, corpus, seed

MANY = 100_000
TEXTS = {
    "heredocs of many names": "",
    "newlines": "\n",
    "slashes": "/a",
    "backticks": "`a",
    "digits": "1",
    "comments": "<!--",
    "dots": ".",
    "quotes": "\"'",
    "one word": "a ",
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", TEXTS)
def test_the_audit_ends(name):
    text = TEXTS[name] * (MANY // max(1, len(TEXTS[name]))) or "".join(f"<<A{n}\n" for n in range(MANY // 8))
    parent = seed(3)
    made, asked = child(parent, "increase/in_depth")
    files = ("instruction.md", "solution/solve.sh", "tests/check.py", "environment/data/x.sh")
    audit(parent, with_files(made, dict.fromkeys(files, text)), asked, pool=corpus())


@pytest.mark.timeout(60)
def test_expectations_of_a_hostile_program_end():
    table = "T = [" + "(1, 2), " * 100 + "]\n"
    loops = "for a, b in T:\n  a == b\n" * 1500
    shell = "".join(f"a{n}='x'\n" for n in range(3000)) + "[ $a1 = $a2 ]\n" * 500 + "'\"" * 2000
    made, _ = child(seed(3), "increase/in_depth")
    files = {"tests/check.py": table * 20 + loops, "tests/test.sh": shell}
    assert expectations_of(with_files(made, files)) != []


def test_here_documents_are_found_by_their_last_lines():
    script = "cat <<'A' > x\none\nB\n\tA\ncat <<B\ntwo\nno end\n"
    (found,) = heredocs(script)
    assert (found.body, script[found.start : found.end]) == ("one\nB\n", "<<'A' > x\none\nB\n\tA")
    assert heredocs("cat <<A <<B\nx\nB\n")[0].body == "x\n"
    assert parts_of("a <<X\nimport os\nX\nb\n") == ("a \n\nb\n", "import os\n")


def test_bounds_leave_usual_texts_alone():
    text = "one\n" * 1000
    assert bounded(text) == text
    assert within_budget([("a", text), ("b", "x")]) == {"a": text, "b": "x"}


def test_bounds_cut_lines_files_and_parts():
    assert bounded("x" * 5000 + "\ny") == "x" * LINE_CHARS + "\ny"
    assert len(bounded("x\n" * FILE_CHARS)) == FILE_CHARS
    assert sum(map(len, within_budget([(str(n), "x" * FILE_CHARS) for n in range(9)]).values())) == PART_CHARS
