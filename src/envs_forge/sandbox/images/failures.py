"""Reads a failed build's log: whose fault was it?

A step's own output is prefixed by the builder (`#7 0.31 …`), and the builder's verdict is the last line that begins
with `ERROR:`. Only that line can blame the machine, so nothing that a hostile step prints does.
"""

from __future__ import annotations

import re

from envs_forge.errors import DiskFullError, EngineError, InfrastructureError
from envs_forge.sandbox.images.model import BuildCode
from envs_forge.sandbox.network import shows_no_network

STEP_FAILED = re.compile(r"did not complete successfully: (.*)$")
STEPS_OWN_FAULT = re.compile(
    r"exit code|executable file not found|no such file|permission denied|cannot allocate|killed", re.IGNORECASE
)
DISK_FULL = "no space left on device"
NO_SOURCE = re.compile(
    r"failed to resolve source metadata|pull access denied|failed to do request"
    r"|failed to fetch (?:anonymous|oauth) token",
    re.IGNORECASE,
)
ENGINE_DOWN = re.compile(
    r"cannot connect to the docker daemon|error during connect|failed to connect to the docker API"
    r"|connection refused|broken pipe|unexpected EOF|no builder|buildx component is missing|is not a docker command",
    re.IGNORECASE,
)


def verdict_line(log: str) -> str:
    """What the builder says of the failure, in one line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["the build failed without a word"])[-1]


def machine_fault(log: str) -> InfrastructureError | None:
    """The machine's fault, if the failure is one."""
    line = verdict_line(log)
    step = STEP_FAILED.search(line)
    if step:
        if STEPS_OWN_FAULT.search(step[1]):
            return None
        return EngineError(f"the engine could not run a step: {step[1][:300]}")
    if DISK_FULL in line:
        return DiskFullError("the disk is full: an image could not be built")
    if ENGINE_DOWN.search(line):
        return EngineError(f"the engine could not build an image: {line[:300]}")
    return None


def bundle_code(log: str) -> BuildCode:
    """The reason code of a failure that is not the machine's."""
    line = verdict_line(log)
    if not STEP_FAILED.search(line) and NO_SOURCE.search(line):
        return BuildCode.BASE_UNAVAILABLE
    if "dockerfile parse error" in line.lower() or "unknown instruction" in line.lower():
        return BuildCode.BAD_DOCKERFILE
    return BuildCode.NEEDS_NETWORK if shows_no_network(log) else BuildCode.FAILED
