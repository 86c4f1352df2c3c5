"""A verifier in an environment of its own: its image brings the tests, and it gets the agent's artifacts only.

Harbor's `environment_mode = "separate"`: commands of `[[verifier.collect]]` run in the agent's sandbox, then
`/logs/artifacts` and the declared artifacts are put at their own paths into a sandbox of the verifier's image, which
is built from `tests/` (or pulled), and its `/tests/test.sh` runs there. Without such an image it is a fresh sandbox of
the task's own environment, and the tests are put there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from envs_forge.bundle.check import has_verifier_image
from envs_forge.bundle.compose import laid_over
from envs_forge.bundle.links import find_file
from envs_forge.bundle.model import Bundle, Collect, EnvironmentConfig, TaskConfig
from envs_forge.sandbox.archive import pack
from envs_forge.sandbox.artifacts import ArtifactsError, gathered
from envs_forge.sandbox.engine import Engine, Image, Sandbox, SandboxSpec
from envs_forge.sandbox.images.context import FOLDER
from envs_forge.sandbox.reward import VERIFIER_DIR
from envs_forge.sandbox.verification import Isolation, Verification
from envs_forge.sandbox.verifier import nothing, plant, run_tests

TESTS = "tests/"
COMPOSE = "tests/docker-compose.yaml"
FRESH_DIRS = (VERIFIER_DIR, "/logs/artifacts", "/logs/agent")


@dataclass(frozen=True, slots=True)
class Apart:
    """Where a separate verifier runs.

    Attributes:
        image: Its image, with the working directory of its environment.
        spec: How its sandboxes are made.
        user: Who runs the tests; None is the image's user.
    """

    image: Image
    spec: SandboxSpec
    user: str | None = None


def verifier_bundle(bundle: Bundle) -> Bundle:
    """A bundle whose image is that of the separate verifier: `tests/` is its environment, else it is the task's."""
    environment = verifier_environment(bundle)
    if not has_verifier_image(bundle.files, bundle.config):
        image = bundle.config.environment.docker_image
        environment = environment.model_copy(update={"docker_image": image})
        return Bundle(id=bundle.id, files=bundle.files, config=TaskConfig(environment=environment))
    files = {f"{FOLDER}{path.removeprefix(TESTS)}": f for path, f in bundle.files.items() if path.startswith(TESTS)}
    return Bundle(id=bundle.id, files=files, config=TaskConfig(environment=environment))


def verifier_environment(bundle: Bundle) -> EnvironmentConfig:
    """The environment of the separate verifier: its own, else one like the agent's."""
    environment = bundle.config.verifier_environment or bundle.config.environment
    compose = find_file(bundle.files, COMPOSE)
    return environment if compose is None else laid_over(compose.data, environment)


def run_hooks(work: Sandbox, hooks: Iterable[Collect]) -> None:
    """Run what the task wants to have run when the agent is done. As in Harbor, a failure is not looked at.

    Raises:
        InfrastructureError: The machine failed.
    """
    for hook in hooks:
        work.exec(["/bin/sh", "-c", hook.command], timeout=hook.timeout_sec)


def verify_apart(
    engine: Engine, bundle: Bundle, work: Sandbox, apart: Apart, *, workdir: str, timeout: float | None = None
) -> Verification:
    """Run the tests of a separate verifier over the artifacts in `work`, and read the reward.

    Args:
        engine: Makes the verifier's sandbox.
        bundle: Says what is carried over.
        work: The sandbox that the agent worked in. It is left as it is.
        apart: Where the tests run.
        workdir: Of the agent; relative artifacts are relative to it.
        timeout: Seconds for `test.sh`; default the bundle's own.

    Raises:
        InfrastructureError: The machine failed; there is no verification.
    """
    seconds = bundle.config.verifier_timeout_sec if timeout is None else timeout
    brings_tests = has_verifier_image(bundle.files, bundle.config)
    fresh_dirs = FRESH_DIRS if brings_tests else (*FRESH_DIRS, "/tests")
    try:
        with (
            gathered(work, bundle.config.artifacts, workdir) as archive,
            engine.create(apart.image, replace(apart.spec, fresh_dirs=fresh_dirs)) as sandbox,
        ):
            sandbox.put("/", archive)
            if brings_tests:
                with pack({}, directories={VERIFIER_DIR.strip("/"): 0o777}) as place:
                    sandbox.put("/", place)
            else:
                plant(sandbox, bundle)
            return run_tests(
                sandbox,
                bundle,
                workdir=apart.image.workdir,
                user=apart.user,
                timeout=seconds,
                isolation=Isolation.SEPARATE,
            )
    except (ArtifactsError, NotADirectoryError) as error:
        return nothing(Isolation.SEPARATE, f"the artifacts cannot be carried over: {error}")
