"""Provenance goes in, everything else stays as it was."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs_forge.bundle import content_hash, set_provenance

from .samples import TOML, sample

LAYOUTS = [
    TOML,
    "",
    "# only a comment",
    'version = "1.0"',
    TOML.replace("\n", "\r\n"),
    'metadata = {author = "x"}\n[agent]\ntimeout_sec = 60\n',
    'metadata.author = "x"\n[agent]\n',
    "[metadata.other]\na = 1\n\n[agent]\ntimeout_sec = 60.0\n",
    "[agent]\ntimeout_sec = 60\n[metadata]\n[[metadata.list]]\na = 1\n",
    '[metadata]\na = """\n[metadata.envs_forge]\nseed = 1\n"""\n\n[environment]\nodd   = [ 1,\n  2 ]\n',
    '[metadata.envs_forge]\nseed = "old"\nstale = 1\n[metadata.envs_forge.deep]\nx = 1\n\n[verifier]\n# kept\n',
    '[metadata]\nauthor = "x"\n\n[verifier]\n\n[metadata.late]\ny = 2\n',
    '[[artifacts]]\nsource = "/app/x"\n\n[environment.env]\nA = "b"\n',
]
TABLE = {
    "seed": "s-1",
    "pass_rate": 0.5,
    "skills": ("a", "b"),
    "missing": None,
    "composition": {"ops": [{"id": "top_k", "knobs": {"ties": True, "none": None}}, {"id": "join", "knobs": {}}]},
}
PLAIN = {
    "seed": "s-1",
    "pass_rate": 0.5,
    "skills": ["a", "b"],
    "composition": {"ops": [{"id": "top_k", "knobs": {"ties": True}}, {"id": "join", "knobs": {}}]},
}


@pytest.mark.parametrize("toml", LAYOUTS)
def test_provenance_is_set_and_nothing_else_changes(toml: str) -> None:
    bundle = sample({"task.toml": toml})
    marked = set_provenance(bundle, TABLE)
    assert marked.provenance == PLAIN
    before, after = tomllib.loads(toml), tomllib.loads(marked.files["task.toml"].data.decode())
    before.setdefault("metadata", {}).pop("envs_forge", None)
    after["metadata"].pop("envs_forge")
    assert after == before
    assert content_hash(marked) == content_hash(bundle)
    assert marked.files["instruction.md"] == bundle.files["instruction.md"]


@pytest.mark.parametrize("toml", LAYOUTS)
def test_setting_it_again_replaces_it(toml: str) -> None:
    once = set_provenance(sample({"task.toml": toml}), {"seed": "b"})
    twice = set_provenance(set_provenance(sample({"task.toml": toml}), TABLE), {"seed": "b"})
    assert twice.provenance == {"seed": "b"}
    assert twice.files["task.toml"].data.split() == once.files["task.toml"].data.split()
    again = set_provenance(twice, {"seed": "b"})
    assert again.files == twice.files


def test_other_lines_stay_byte_for_byte() -> None:
    toml = TOML + '# tail\n[agent]   # odd\n  "quoted key" = [ 1,2,\n 3 ]\n'
    after = set_provenance(sample({"task.toml": toml}), TABLE).files["task.toml"].data.decode().split("\n")
    assert [line for line in toml.split("\n") if line not in after] == []


_KEYS = st.text(max_size=8)
_VALUES = st.recursive(
    st.one_of(st.text(max_size=10), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=4), st.sampled_from(LAYOUTS))
@settings(max_examples=150)
def test_any_table_survives(table: dict[str, object], toml: str) -> None:
    assert set_provenance(sample({"task.toml": toml}), table).provenance == table
