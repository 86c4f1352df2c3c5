"""Links resolve as a kernel resolves them: checked against real ones."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs_forge.bundle.links import LinkEscapesError, LinkLoopError, find_file, resolve
from envs_forge.bundle.model import BundleFile

_PARTS = st.sampled_from(["a", "b", "c", "..", ".", ""])
_TARGETS = st.lists(_PARTS, min_size=1, max_size=4).map("/".join).filter(bool)


@given(st.dictionaries(st.sampled_from(["a", "b/x", "b/y/z", "c"]), _TARGETS, min_size=1), st.data())
@settings(max_examples=150)
def test_the_same_as_the_kernel(links: dict[str, str], data: st.DataObject) -> None:
    start = data.draw(st.sampled_from(sorted(links)))
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory, "outer", "root")
        for path, target in links.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target)
        try:
            end = resolve(start, links)
        except (LinkEscapesError, LinkLoopError):
            return
        if os.path.exists(root / start):  # noqa: PTH110
            assert os.path.realpath(root / start) == os.path.realpath(root / end)
            assert Path(os.path.realpath(root / start)).is_relative_to(root.resolve())


@pytest.mark.parametrize("target", ["/", "/x", "..", "b/../../x", "../root/b"])
def test_what_leaves_is_refused(target: str) -> None:
    with pytest.raises(LinkEscapesError):
        resolve("a", {"a": target})


def test_a_circle_is_refused() -> None:
    with pytest.raises(LinkLoopError):
        resolve("a", {"a": "b", "b": "c/d", "c": "a"})


def test_files_are_found_through_links() -> None:
    files = {
        "real/f": BundleFile(data=b"x"),
        "dir": BundleFile(target="real"),
        "file": BundleFile(target="./dir/f"),
        "loop": BundleFile(target="loop"),
    }
    assert find_file(files, "file") == find_file(files, "dir/f") == files["real/f"]
    assert find_file(files, "dir") is find_file(files, "loop") is find_file(files, "no") is None
