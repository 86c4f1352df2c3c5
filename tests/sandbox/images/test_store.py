import subprocess
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from envs_forge.bundle.model import BundleFile
from envs_forge.errors import InfrastructureError
from envs_forge.sandbox.images.model import BuildCode, BuildFault, BuiltImage
from envs_forge.sandbox.images.registry import RegistryPolicy
from envs_forge.sandbox.images.store import ImageStore
from envs_forge.sandbox.prerequisites import BASE_IMAGE

from ..bundles import bundle

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def local(store: ImageStore) -> ImageStore:
    """A store that never asks a registry, so that every machine gives the same answers."""
    return ImageStore(registry=RegistryPolicy.NEVER)


def ok(outcome: BuiltImage | BuildFault) -> BuiltImage:
    assert isinstance(outcome, BuiltImage), outcome
    return outcome


def fault(outcome: BuiltImage | BuildFault) -> BuildFault:
    assert isinstance(outcome, BuildFault), outcome
    return outcome


def run(image: BuiltImage, *argv: str) -> bytes:
    command = ["docker", "run", "--rm", "--network", "none", "--user", "0", image.image.id, *argv]
    return subprocess.run(command, capture_output=True, check=False).stdout


WILD = r"""# syntax=docker/dockerfile:1
# escape=\
ARG VERSION=22.04
FROM --platform=linux/amd64 ubuntu:${VERSION} AS build
RUN <<EOF cat > /from
FROM inside
EOF
FROM build AS middle
COPY --from=python:3.12-slim /etc/os-release /of-python
RUN --mount=type=bind,from=debian:12,target=/other cp /other/etc/os-release /of-debian
FROM middle
ENV ONE=1 TWO="t w o"
COPY --chmod=700 some?file.txt \
  # FROM a comment
  /copied/
COPY . /all/
WORKDIR /srv
USER nobody:nogroup
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_wild_dockerfile_builds_on_stand_ins(local: ImageStore, end: str) -> None:
    files = {
        "environment/some file.txt": "text",
        "environment/.dockerignore": "ignored\n",
        "environment/ignored": "x",
        "environment/d/link": BundleFile(target="../some file.txt"),
        "environment/run.sh": BundleFile(data=b"x", mode=0o755),
    }
    task = bundle(WILD.replace("\n", end), files)
    made = ok(local.ensure(task))
    assert made.substitutions == dict.fromkeys(["ubuntu:22.04", "python:3.12-slim", "debian:12"], BASE_IMAGE)
    assert (made.image.workdir, made.image.user) == ("/srv", "nobody:nogroup")
    assert (made.image.env["ONE"], made.image.env["TWO"]) == ("1", "t w o")
    said = run(made, "cat", "/from", "/copied/some file.txt", "/all/d/link")
    assert said.split() == [b"FROM", b"inside", b"texttext"]
    assert run(made, "stat", "-c", "%a", "/all/run.sh", "/all/ignored") == b"755\n"
    assert ok(local.ensure(task)).built is False


def test_what_is_there_is_found_again_by_content(local: ImageStore) -> None:
    task = bundle(f"FROM debian:12.11-slim\nENV ID={uuid4()}\n")
    first, second = ok(local.ensure(task)), ok(local.ensure(task))
    assert (first.built, second.built) == (True, False)
    assert first.image == second.image
    other = ok(ImageStore(registry=RegistryPolicy.NEVER).ensure(task))
    assert (other.built, other.image.id) == (False, first.image.id)
    mine = [image for image in local.local.list_built() if first.image.tag in image.tags]
    assert local.local.remove(mine) == 1
    assert local.local.find(first.image.tag) is None


def test_threads_that_want_the_same_image_build_it_once(local: ImageStore) -> None:
    task = bundle(f"FROM debian:12.11-slim\nRUN date +%s%N > /when # {uuid4()}\n")
    with ThreadPoolExecutor(4) as pool:
        made = [ok(outcome) for outcome in pool.map(local.ensure, [task] * 4)]
    assert len({image.image.id for image in made}) == 1
    local.local.remove([image for image in local.local.list_built() if made[0].image.tag in image.tags])


@pytest.mark.parametrize(
    ("dockerfile", "code", "unsupported"),
    [
        ("FROM debian:12\nRUN echo the reason; exit 3\n", BuildCode.FAILED, False),
        ("FROM debian:12\nCOPY nothing /\n", BuildCode.FAILED, False),
        ("FRM debian:12\n", BuildCode.BAD_DOCKERFILE, False),
        ("# nothing\n", BuildCode.BAD_DOCKERFILE, False),
        ("FROM no-such-image-anywhere:1\n", BuildCode.BASE_UNAVAILABLE, True),
        ("FROM debian:12\nRUN curl -sS http://example.invalid/x\n", BuildCode.NEEDS_NETWORK, True),
        (None, BuildCode.NO_IMAGE, False),
    ],
)
def test_the_bundles_faults_are_data(
    local: ImageStore, dockerfile: str | None, code: BuildCode, unsupported: bool
) -> None:
    found = fault(local.ensure(bundle(dockerfile)))
    assert (found.code, found.unsupported) == (code, unsupported)
    assert found.message


def test_a_failed_build_says_why(local: ImageStore) -> None:
    found = fault(local.ensure(bundle("FROM debian:12\nRUN echo the reason; exit 3\n")))
    assert "the reason" in found.log_tail
    assert "exit code: 3" in found.message
    assert found.substitutions == {"debian:12": BASE_IMAGE}


def test_a_build_that_hangs_is_stopped(local: ImageStore) -> None:
    found = fault(local.ensure(bundle("FROM debian:12\nRUN echo before; sleep 300\n", build_timeout_sec=3)))
    assert found.code is BuildCode.TIMEOUT


def test_the_log_of_a_build_is_capped(local: ImageStore) -> None:
    noise = f"FROM debian:12\nRUN head -c 3000000 /dev/zero | tr '\\0' x; echo; echo {uuid4()} the end; false\n"
    found = fault(local.ensure(bundle(noise)))
    assert len(found.log_tail) <= 8000
    assert "the end" in found.log_tail


def test_an_image_by_name(local: ImageStore) -> None:
    found = ok(local.ensure(bundle(None, docker_image="ubuntu:24.04")))
    assert found.substitutions == {"ubuntu:24.04": BASE_IMAGE}
    assert ok(local.ensure(bundle(None, docker_image=BASE_IMAGE))).substitutions == {}
    assert fault(local.ensure(bundle(None, docker_image="no/such:1"))).code is BuildCode.BASE_UNAVAILABLE


def test_a_stand_in_that_is_not_here_is_the_machines_fault(store: ImageStore) -> None:
    strange = ImageStore(base_images={"debian:12": "not/made:1"}, registry=RegistryPolicy.NEVER)
    with pytest.raises(InfrastructureError, match="not/made:1"):
        strange.ensure(bundle("FROM debian:12\n"))


def test_a_build_may_be_without_a_network(store: ImageStore) -> None:
    closed = ImageStore(registry=RegistryPolicy.NEVER, network=False)
    ok(closed.ensure(bundle("FROM debian:12\nRUN test $(tail -n +3 /proc/net/dev | wc -l) = 1\n")))


def test_a_path_below_a_link_is_the_bundles_fault(local: ImageStore) -> None:
    files = {"environment/l": BundleFile(target="/etc"), "environment/l/passwd": "x"}
    assert fault(local.ensure(bundle("FROM debian:12\n", files))).code is BuildCode.FAILED
