"""Reading the layers of real images, from the engine's disk and from an export."""

import os
from itertools import islice

import pytest

from envs_forge.gold.leak import layers
from envs_forge.gold.leak.index import ContentIndex
from envs_forge.gold.leak.layers import LayerReader
from envs_forge.gold.leak.search import find_leaks
from envs_forge.gold.leak.secrets import secrets_of
from envs_forge.sandbox.runtime import open_runtime

from ..tasks import task
from .test_search import SOLUTION

pytestmark = pytest.mark.engine
HIDDEN = task(
    "hidden",
    solution=SOLUTION,
    **{"environment/data.txt": SOLUTION},
    dockerfile=(
        "FROM debian:bookworm-slim\nRUN ln -s /etc/passwd /link && mkfifo /fifo\nCOPY data.txt /opt/a\nRUN rm /opt/a\n"
    ),
)


@pytest.fixture(scope="module")
def prepared():
    with open_runtime("docker") as runtime:
        yield runtime.prepare(HIDDEN)


def leaks(cache, prepared):
    indices = LayerReader(cache).indices(prepared.image.id, HIDDEN, prepared.substitutions)
    found = find_leaks(secrets_of(HIDDEN), indices, HIDDEN.instruction)
    return [(leak.secret.path, leak.document) for leak in found]


@pytest.mark.parametrize("source", ["disk", "export"])
def test_what_a_later_layer_deletes_is_still_found(source, prepared, tmp_path, monkeypatch):
    if source == "export":
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert leaks(tmp_path, prepared) == [("solution/solve.sh", "opt/a")]
    kept = list(tmp_path.rglob("*.npz"))
    assert len(kept) == 3


@pytest.mark.parametrize("source", ["disk", "export"])
def test_a_layer_is_read_once(source, prepared, tmp_path, monkeypatch):
    leaks(tmp_path, prepared)
    if source == "export":
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(layers, "directory_files", None)
    monkeypatch.setattr(layers, "tar_files", None)
    assert leaks(tmp_path, prepared) == [("solution/solve.sh", "opt/a")]


def test_without_a_known_base_all_layers_are_looked_at(prepared, tmp_path):
    base_less = LayerReader(tmp_path)
    base_less._base_length = lambda *arguments: 0
    base_less._keep = lambda digest, files: seen.append(len(list(islice(files, 1000)))) or ContentIndex.of([])
    seen = []
    base_less._layers(prepared.image.id, base_less._inspect(prepared.image.id), range(1))
    assert seen == [1000]
