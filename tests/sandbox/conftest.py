"""Both engines, an image with everything that an image can say, and sandboxes made of it.

Whatever uses `engine` runs once on each engine; one that cannot run on this machine is skipped with its reason.
"""

from collections.abc import Iterator

import pytest

from envs_forge.bundle.model import Bundle
from envs_forge.errors import PrerequisiteError
from envs_forge.sandbox.auto import make_engine
from envs_forge.sandbox.engine import Engine, Image, Limits, Sandbox, SandboxSpec
from envs_forge.sandbox.images.model import BuiltImage
from envs_forge.sandbox.images.store import ImageStore

from .bundles import bundle

SMALL = Limits(cpus=1.0, memory_mb=128, pids=100, disk_mb=64)
RICH = r"""
FROM debian:12.11-slim
RUN useradd --create-home --uid 1234 worker \
    && mkdir -p /srv/work/dir /full/sub && touch /full/sub/file && ln -s /etc /door && chown worker /srv/work/dir
ENV GREETING="hello there" ONLY_IMAGE=1
WORKDIR /srv/work/dir
USER worker
"""


@pytest.fixture(scope="session")
def store() -> ImageStore:
    try:
        return ImageStore()
    except PrerequisiteError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session", params=["docker", "oci"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    try:
        made = make_engine(request.param)
    except PrerequisiteError as error:
        pytest.skip(str(error))
    yield made
    made.close()


def built(store: ImageStore, task: Bundle) -> Image:
    outcome = store.ensure(task)
    assert isinstance(outcome, BuiltImage), outcome
    return outcome.image


@pytest.fixture(scope="session")
def rich(store: ImageStore) -> Image:
    """ENV, WORKDIR and USER are set."""
    return built(store, bundle(RICH))


@pytest.fixture(scope="session")
def plain(store: ImageStore) -> Image:
    """The base image as it is; commands run as root in /."""
    return built(store, bundle("FROM debian:12.11-slim\n"))


@pytest.fixture(scope="module")
def shared(engine: Engine, plain: Image) -> Iterator[Sandbox]:
    """One sandbox for all tests of a module that leave it as it was."""
    with engine.create(plain, SandboxSpec(limits=SMALL)) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(engine: Engine, plain: Image) -> Iterator[Sandbox]:
    """A fresh one."""
    with engine.create(plain, SandboxSpec(limits=SMALL)) as made:
        yield made
