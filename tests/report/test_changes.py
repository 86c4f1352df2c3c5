from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.report.changes import MOST_LINES, changes
from pipeline.fakes import bundle


def with_file(path: str, data: bytes) -> Bundle:
    seed = bundle("seed", "Do it.\n")
    return seed.model_copy(update={"files": {**seed.files, path: BundleFile(data=data)}})


def test_equal_bundles_have_no_changes() -> None:
    assert changes(bundle("a", "Do it.\n"), bundle("b", "Do it.\n")) == []


def test_the_instruction_comes_first_with_its_lines() -> None:
    child = with_file("environment/data.csv", b"a\n")
    child = child.model_copy(update={"files": {**child.files, "instruction.md": BundleFile(data=b"Do that.\n")}})
    first, second = changes(bundle("seed", "Do it.\n"), child)
    assert (first.path, first.what) == ("instruction.md", "changed")
    assert [(line.kind, line.text) for line in first.lines if line.kind != "place"] == [
        ("old", "Do it."),
        ("new", "Do that."),
    ]
    assert (second.path, second.what) == ("environment/data.csv", "added")


def test_what_is_no_text_is_named_and_not_shown() -> None:
    (change,) = changes(with_file("environment/a.bin", b"\0" * 5), with_file("environment/a.bin", b"\0" * 7))
    assert (change.lines, change.note) == ((), "not shown: 5 bytes → 7 bytes")


def test_long_differences_are_cut_and_it_is_said() -> None:
    long = "".join(f"{number}\n" for number in range(MOST_LINES + 50)).encode()
    (change,) = changes(bundle("seed", "Do it.\n"), with_file("tests/long.txt", long))
    assert len(change.lines) == MOST_LINES
    assert change.note == "51 more lines"  # the place is one of them


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_two_files_can_be_compared(old: bytes, new: bytes) -> None:
    found = changes(with_file("tests/x", old), with_file("tests/x", new))
    assert bool(found) is (old != new)
