"""The static schema check: can this directory be a task at all? Everything that is wrong, at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from envs_forge.bundle.compose import COMPOSE
from envs_forge.bundle.config import FILE, parse_config
from envs_forge.bundle.finding import Finding, Severity, errors_of
from envs_forge.bundle.links import find_file
from envs_forge.bundle.model import Bundle, BundleFile, TaskConfig, VerifierMode
from envs_forge.bundle.reading import INSTRUCTION, bundle_from_files, directory, read_files
from envs_forge.bundle.text import crlf_finding, decoding_finding
from envs_forge.bundle.tree import DEFAULT_LIMITS, SizeLimits, link_findings

DOCKERFILE = "environment/Dockerfile"
VERIFIER_DOCKERFILE = "tests/Dockerfile"
VERIFIER_COMPOSE = "tests/docker-compose.yaml"
TEST = "tests/test.sh"
SOLUTION = "solution/solve.sh"
Files = Mapping[str, BundleFile]


def check_bundle(bundle: Bundle | str | Path, *, limits: SizeLimits = DEFAULT_LIMITS) -> list[Finding]:
    """Everything that is wrong with the form of a bundle.

    Args:
        bundle: In memory, or the directory it lies in.
        limits: Sizes beyond which it is refused.

    Returns:
        Findings; when none of them is an error, the bundle can be built and run.

    Raises:
        UserError: There is no such directory.
    """
    if isinstance(bundle, Bundle):
        files: Files = bundle.files
        findings = link_findings(files)
    else:
        files, findings = read_files(directory(bundle), limits)
        if not files and errors_of(findings):
            return findings
    _, problems = bundle_from_files("bundle", files)
    findings = [*findings, *problems]
    reported = {(f.code, f.file, f.line) for f in findings}
    manifest = files.get(FILE)
    config = parse_config(manifest.data)[0] if manifest is not None else None
    more = [*_structure(files, config or TaskConfig()), *_texts(files)]
    return findings + [f for f in more if (f.code, f.file, f.line) not in reported]


def _structure(files: Files, config: TaskConfig) -> Iterator[Finding]:
    if config.steps:
        return
    environment = config.environment
    if not environment.docker_image and not any(find_file(files, name) for name in (DOCKERFILE, COMPOSE)):
        message, fix = "nothing says how to make the image", "add environment/Dockerfile or set docker_image"
        yield Finding(code="image-missing", file=DOCKERFILE, message=message, fix=fix)
    if environment.os != "linux":
        return
    apart = config.verifier_mode is VerifierMode.SEPARATE
    if not (apart and has_verifier_image(files, config)) and find_file(files, TEST) is None:
        message, fix = "no tests/test.sh", "add a script that writes the reward to /logs/verifier/reward.txt"
        yield Finding(code="tests-missing", file=TEST, message=message, fix=fix)
    if find_file(files, SOLUTION) is None and not is_typed(config):
        message, fix = "no solution/solve.sh", "add the oracle: without it nobody knows that the task can be done"
        yield Finding(code="solution-missing", file=SOLUTION, message=message, fix=fix)


def is_typed(config: TaskConfig) -> bool:
    """Whether the task came from Terminal-Bench with a solution that only a terminal can be typed into."""
    origin = config.metadata.get("terminal_bench")
    return isinstance(origin, Mapping) and origin.get("solution") == "keystrokes"


def has_verifier_image(files: Files, config: TaskConfig) -> bool:
    """Whether a separate verifier has an image of its own, which brings the tests.

    Without one it runs, as in Harbor, in a copy of the task's environment, and the tests are put there.
    """
    own = config.verifier_environment
    named = own is not None and own.docker_image is not None
    return named or any(find_file(files, name) for name in (VERIFIER_DOCKERFILE, VERIFIER_COMPOSE))


def _texts(files: Files) -> Iterator[Finding]:
    """Encodings of the files that something else has to parse."""
    for path in (FILE, INSTRUCTION, DOCKERFILE, TEST, SOLUTION):
        file = find_file(files, path)
        if file is None:
            continue
        script = path in (TEST, SOLUTION)
        if not file.data.strip():
            yield Finding(code="empty-file", file=path, message="is empty", fix="write it")
            continue
        bom = Severity.WARNING if path == INSTRUCTION else Severity.ERROR
        finding = decoding_finding(path, file.data, bom=bom)
        if finding is not None:
            latin = finding.code == "encoding" and (script or path == DOCKERFILE)
            yield finding.model_copy(update={"severity": Severity.WARNING}) if latin else finding
        crlf = crlf_finding(path, file.data, script=script)
        if crlf is not None:
            yield crlf
