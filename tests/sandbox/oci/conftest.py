"""An oci engine with a state directory of its own, and what it leaves on the machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from envs_forge.errors import PrerequisiteError
from envs_forge.sandbox.docker.connection import connect
from envs_forge.sandbox.engine import Image, Limits, Sandbox, SandboxSpec
from envs_forge.sandbox.images.local import LocalImages
from envs_forge.sandbox.oci import OciEngine
from envs_forge.sandbox.prerequisites import BASE_IMAGE
from waiting import eventually

SMALL = Limits(cpus=1.0, memory_mb=128, pids=100, disk_mb=64)


@pytest.fixture(scope="session")
def client() -> docker.APIClient:
    return connect()


@pytest.fixture(scope="session")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def oci(client: docker.APIClient, state: Path) -> Iterator[OciEngine]:
    try:
        engine = OciEngine(client, state=state)
    except PrerequisiteError as error:
        pytest.skip(str(error))
    yield engine
    engine.close()
    assert leftovers(state) == []


@pytest.fixture(scope="session")
def image(client: docker.APIClient) -> Image:
    found = LocalImages(client).find(BASE_IMAGE)
    assert found is not None, "the base image is missing: make base-image"
    return found


@pytest.fixture
def sandbox(oci: OciEngine, image: Image) -> Iterator[Sandbox]:
    with oci.create(image, SandboxSpec(limits=SMALL)) as made:
        yield made


def sh(sandbox: Sandbox, script: str, *, user: str | None = None) -> str:
    done = sandbox.exec(["/bin/sh", "-c", script], timeout=30, user=user)
    assert done.exit_code == 0, done
    return done.stdout.decode()


def leftovers(state: Path) -> list[str]:
    """Mounts, loop devices and owners' directories below a state directory; the kernel may take a moment."""
    eventually(lambda: not _leftovers(state), 20)
    return _leftovers(state)


def _leftovers(state: Path) -> list[str]:
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(state) in line]
    backing = []
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):
            backing.append(path.read_text().strip())
    owners = [str(path) for path in (state / "owners").glob("*")]
    return mounts + [path for path in backing if str(state) in path] + owners


def cgroups_of(name: str) -> list[Path]:
    return list(Path("/sys/fs/cgroup").glob(f"*/{name}")) + list(Path("/sys/fs/cgroup").glob(name))
