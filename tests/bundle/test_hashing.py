"""The hash follows meaning: everything that matters changes it, nothing else does."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs_forge.bundle import Bundle, BundleFile, content_hash, read_bundle, set_provenance

from .samples import TOML, on_disk, sample
from .strategies import bundles


@given(bundles(), st.randoms())
@settings(max_examples=50)
def test_order_and_id_do_not_matter(bundle: Bundle, random: Random) -> None:
    items = list(bundle.files.items())
    random.shuffle(items)
    assert content_hash(bundle.model_copy(update={"files": dict(items), "id": "other"})) == content_hash(bundle)


@given(bundles(), st.data())
@settings(max_examples=80)
def test_any_change_of_a_file_matters(bundle: Bundle, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(set(bundle.files) - {"task.toml"})))
    file = bundle.files[path]
    changed = [file.model_copy(update={"data": file.data + b"\n"}), file.model_copy(update={"mode": file.mode ^ 0o100})]
    if file.target is not None:
        changed = [file.model_copy(update={"target": file.target + "/."}), BundleFile(data=file.target.encode())]
    rest = {p: f for p, f in bundle.files.items() if p != path}
    others = [rest, {**rest, path + "x": file}, *({**rest, path: new} for new in changed)]
    hashes = {content_hash(bundle.model_copy(update={"files": files})) for files in others}
    assert content_hash(bundle) not in hashes
    assert len(hashes) == len(others)


def test_mtime_and_group_bits_do_not_matter(tmp_path: Path) -> None:
    path = on_disk(tmp_path)
    before = content_hash(read_bundle(path))
    os.utime(path / "tests/test.sh", (0, 0))
    (path / "tests/test.sh").chmod(0o700)
    (path / "instruction.md").chmod(0o600)
    assert content_hash(read_bundle(path)) == before


@pytest.mark.parametrize(
    "toml",
    [
        TOML.replace("memory_mb = 512", "memory_mb=512.0 # same"),
        "# comment\n" + TOML.replace("\n", "\r\n"),
        TOML + '\n[metadata.envs_forge]\nseed = "x"\n',
        'environment = {network_mode = "no-network", memory_mb = 512}\nmetadata.author = "someone"\n'
        'schema_version = "1.4"\ntask.name = "examples/sample"\n',
    ],
)
def test_the_layout_of_toml_does_not_matter(toml: str) -> None:
    assert content_hash(sample({"task.toml": toml})) == content_hash(sample())


@pytest.mark.parametrize(
    "toml",
    [
        TOML.replace("512", "513"),
        TOML.replace("someone", "somebody"),
        TOML + "unknown_key = 1\n",
        TOML + "[metadata.other]\nx = 2020-01-01\n",
        TOML + '[metadata.other]\nx = "2020-01-01"\n',
    ],
)
def test_the_meaning_of_toml_matters(toml: str) -> None:
    assert content_hash(sample({"task.toml": toml})) != content_hash(sample())


def test_values_of_different_types_differ() -> None:
    hashes = {
        content_hash(sample({"task.toml": TOML + f"[metadata.other]\nx = {value}\n"}))
        for value in ("1", "1.5", "true", '"1"', '"true"', "2020-01-01", '"2020-01-01"', "[1]", "nan", '"NaN"', "{}")
    }
    assert len(hashes) == 11


def test_an_empty_metadata_table_is_no_metadata() -> None:
    bare = sample({"task.toml": 'schema_version = "1.4"\n'})
    assert content_hash(set_provenance(bare, {"seed": "s"})) == content_hash(bare)
    assert content_hash(sample({"task.toml": 'schema_version = "1.4"\n[metadata]\n'})) == content_hash(bare)


def test_the_hash_is_stable_across_releases() -> None:
    """A changed value invalidates every stored verdict and measurement: change it only with the format's name."""
    assert content_hash(sample()) == "1c61cb8461427120f2583d5afa96feb93051f7ec1d56b436531890daae6e91f5"
