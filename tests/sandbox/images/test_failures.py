import pytest

from envs_forge.errors import DiskFullError, EngineError
from envs_forge.sandbox.images.failures import bundle_code, machine_fault, verdict_line
from envs_forge.sandbox.images.model import BuildCode

STEP = 'ERROR: failed to solve: process "/bin/sh -c x" did not complete successfully: exit code: 1'


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        ("ERROR: Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?", EngineError),
        ("ERROR: error during connect: Post http://x: EOF", EngineError),
        ("ERROR: failed to solve: write /x: no space left on device", DiskFullError),
        (STEP.replace("exit code: 1", "failed to create endpoint x on network bridge"), EngineError),
    ],
)
def test_the_machines_faults(log: str, kind: type[Exception]) -> None:
    assert isinstance(machine_fault(f"#1 building\n{log}\n"), kind)


@pytest.mark.parametrize(
    "said",
    [
        "no space left on device",
        "ERROR: Cannot connect to the Docker daemon",
        "ERROR: error during connect: broken pipe",
    ],
)
def test_what_a_step_prints_never_blames_the_machine(said: str) -> None:
    log = f"#5 0.2 {said}\n------\n > RUN x:\n0.2 {said}\n------\n{STEP}\n"
    assert machine_fault(log) is None
    assert verdict_line(log) == STEP


@pytest.mark.parametrize(
    ("log", "code"),
    [
        (STEP, BuildCode.FAILED),
        (f"#5 curl: (6) Could not resolve host: x.org\n{STEP}", BuildCode.NEEDS_NETWORK),
        (
            "ERROR: failed to solve: dockerfile parse error on line 1: unknown instruction: FRM",
            BuildCode.BAD_DOCKERFILE,
        ),
        (
            "ERROR: failed to solve: x: failed to resolve source metadata for docker.io/x: not found",
            BuildCode.BASE_UNAVAILABLE,
        ),
        ('ERROR: failed to solve: failed to compute cache key: "/nothing": not found', BuildCode.FAILED),
        ("", BuildCode.FAILED),
    ],
)
def test_the_bundles_faults(log: str, code: BuildCode) -> None:
    assert machine_fault(log) is None
    assert bundle_code(log) == code
