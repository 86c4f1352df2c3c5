"""The reason for no user namespace is the first that holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.sandbox.oci import userns
from envs_forge.sandbox.oci.userns import why_no_user_namespace


@pytest.mark.parametrize(
    ("limit", "runc", "words"),
    [
        (None, "runc version 1.3.0", "the kernel has no user namespaces"),
        ("0\n", "runc version 1.3.0", "max_user_namespaces is 0"),
        ("100\n", "runc version 1.1.5+ds1", "runc 1.1 cannot"),
        ("100\n", "runc version 1.2.0-rc.1", "does not shift"),
        ("100\n", "", "runc 0.0 cannot"),
    ],
)
def test_reasons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str | None, runc: str, words: str) -> None:
    place = tmp_path / "limit"
    if limit is not None:
        place.write_text(limit)
    monkeypatch.setattr(userns, "LIMIT", place)
    assert words in why_no_user_namespace(runc)
