import pytest

from envs_forge.sandbox.images.base_map import BaseMap, packaged
from envs_forge.sandbox.images.names import familiar, registry
from envs_forge.sandbox.prerequisites import BASE_IMAGE


@pytest.mark.parametrize(
    ("name", "short", "host"),
    [
        ("ubuntu", "ubuntu:latest", "docker.io"),
        ("ubuntu:22.04", "ubuntu:22.04", "docker.io"),
        ("docker.io/library/ubuntu:22.04", "ubuntu:22.04", "docker.io"),
        ("index.docker.io/someone/x", "someone/x:latest", "docker.io"),
        ("ubuntu:22.04@sha256:ab", "ubuntu:22.04", "docker.io"),
        ("ubuntu@sha256:ab", "ubuntu:latest", "docker.io"),
        ("ghcr.io/o/i:t", "ghcr.io/o/i:t", "ghcr.io"),
        ("localhost:5000/i", "localhost:5000/i:latest", "localhost:5000"),
        ("localhost/i:1", "localhost/i:1", "localhost"),
    ],
)
def test_names(name: str, short: str, host: str) -> None:
    assert familiar(name) == short
    assert registry(name) == host


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("debian:12.11-slim", True),
        ("ubuntu", True),
        ("docker.io/library/python:3.12-slim-bookworm", True),
        ("python", True),
        ("ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624", True),
        ("python:2.7", False),
        ("alpine:3.20", False),
        ("node:20", False),
        ("someone/ubuntu:22.04", False),
    ],
)
def test_the_packaged_table(name: str, known: bool) -> None:
    assert BaseMap().stand_in(name) == (BASE_IMAGE if known else None)


def test_it_names_the_base_image_that_set_up_makes() -> None:
    assert set(packaged().values()) == {BASE_IMAGE}


def test_a_sites_own_table_comes_first_and_may_leave_out_the_tag() -> None:
    table = BaseMap({"ubuntu:24.04": "mine:1", "node": "mine:2"})
    assert table.stand_in("ubuntu:24.04") == "mine:1"
    assert table.stand_in("ubuntu:22.04") == BASE_IMAGE
    assert table.stand_in("node:20") == "mine:2"
