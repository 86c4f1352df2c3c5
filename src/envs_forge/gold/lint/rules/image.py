"""Rules about the Dockerfile."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping

from envs_forge.bundle.check import DOCKERFILE, VERIFIER_DOCKERFILE
from envs_forge.bundle.links import links_of, resolve
from envs_forge.bundle.model import VerifierMode
from envs_forge.gold.lint.image import ImageFile
from envs_forge.gold.lint.registry import ERROR, WARNING, Hit, rule
from envs_forge.gold.lint.task import Task
from envs_forge.sandbox.images.steps import name_in_context, sources_of

_REWARD = re.compile(r"/logs/verifier/reward\.(?:txt|json)\b")
_SHELLS = {"bash", "sh", "/bin/bash", "/bin/sh", "python", "python3", "sleep", "tail", "node"}


@rule("no-from", ERROR, "a Dockerfile without FROM", fix="begin it with FROM and a pinned tag")
def no_from(task: Task) -> Iterator[Hit]:
    """It cannot be built."""
    if task.image is not None and not task.image.bases:
        yield Hit("no FROM", DOCKERFILE, 1)


@rule("copy-source-missing", ERROR, "COPY of a file that is not in environment/", fix="add it or correct the path")
def copy_source_missing(task: Task) -> Iterator[Hit]:
    """The build would fail. Patterns, variables, other stages and addresses are left alone."""
    if task.image is None:
        return
    present = {p.removeprefix("environment/") for p in task.bundle.files if p.startswith("environment/")}
    present |= {path[:at] for path in present for at, sign in enumerate(path) if sign == "/"}
    links = links_of(task.bundle.files)
    for step in task.image.steps:
        for source in sources_of(step):
            name = name_in_context(source)
            if name != "." and name not in present and _real(name, links) not in present:
                yield Hit(f"{source} is not in environment/", DOCKERFILE, step.line)


def _real(name: str, links: Mapping[str, str]) -> str:
    """Where a path of environment/ leads when links are followed; itself where they lead nowhere."""
    try:
        return resolve(f"environment/{name}", links).removeprefix("environment/")
    except ValueError:
        return name


@rule("reward-in-image", WARNING, "the image holds a reward", fix="let the tests alone write it")
def reward_in_image(task: Task) -> Iterator[Hit]:
    """It is removed before the tests run; who reads the bundle may think that it counts."""
    for step in task.image.steps if task.image is not None else ():
        if step.keyword in ("RUN", "COPY", "ADD") and _REWARD.search(step.text):
            yield Hit("writes where the tests write the reward", DOCKERFILE, step.line)


@rule(
    "verifier-image-without-tests",
    WARNING,
    "a separate verifier whose image gets no tests",
    fix="COPY test.sh /tests/test.sh in tests/Dockerfile",
)
def verifier_image_without_tests(task: Task) -> Iterator[Hit]:
    """Nobody puts them there later; a base image that brings them is rare."""
    config = task.bundle.config
    image = ImageFile.parse(task.text(VERIFIER_DOCKERFILE))
    if config.verifier_mode is not VerifierMode.SEPARATE or image is None:
        return
    if not any(step.keyword in ("COPY", "ADD", "WORKDIR") and "/tests" in step.text for step in image.steps):
        yield Hit("no COPY to /tests", VERIFIER_DOCKERFILE, 1)


@rule("unpinned-image", WARNING, "a base image without a fixed tag", fix="name a tag such as debian:12.11-slim")
def unpinned_image(task: Task) -> Iterator[Hit]:
    """`latest`, or none, is another image tomorrow."""
    if task.image is None:
        return
    for base in task.image.foreign_bases:
        tag = base.image.rsplit("/", 1)[-1].partition(":")[2]
        if "@sha256:" not in base.image and tag in ("", "latest") and "$" not in base.image:
            yield Hit(f"FROM {base.image}", DOCKERFILE, base.line)


@rule("syntax-directive", WARNING, "a `# syntax=` line", fix="remove it: the builder's own frontend will do")
def syntax_directive(task: Task) -> Iterator[Hit]:
    """It is fetched from a registry before anything is built."""
    if task.image is not None and "syntax" in task.image.directives:
        yield Hit("needs a registry to build", DOCKERFILE, 1)


@rule("command-is-ignored", WARNING, "CMD starts something", fix="start it in the solution, or say in the task to")
def command_is_ignored(task: Task) -> Iterator[Hit]:
    """Readers run a command of their own in the container, so a service started by CMD is not there."""
    step = task.image.last("CMD") if task.image else None
    if step is None:
        return
    words = re.findall(r'"([^"]*)"', step.text) if step.text.startswith("[") else step.text.split()
    if words and not (words[0] in _SHELLS and (len(words) == 1 or words[0] in ("sleep", "tail"))):
        yield Hit(f"CMD {step.text} never runs", DOCKERFILE, step.line)


@rule("unverified-download", WARNING, "the build runs or unpacks what it downloads", fix="check a sha256 or pin it")
def unverified_download(task: Task) -> Iterator[Hit]:
    """`curl … | sh` and ADD of an address without a checksum."""
    if task.image is None:
        return
    for step in task.image.steps:
        piped = step.keyword == "RUN" and re.search(r"\b(?:curl|wget)\b[^|;&]*\|\s*(?:sudo\s+)?(?:ba)?sh\b", step.text)
        added = step.keyword == "ADD" and "://" in step.text and not any("--checksum" in f for f in step.flags)
        if piped or added:
            yield Hit("what comes down is not checked", DOCKERFILE, step.line)


def is_ignored(task: Task, path: str) -> bool:
    """Whether `.dockerignore` keeps a path of environment/ out of the build."""
    for line in task.text("environment/.dockerignore").splitlines():
        pattern = line.strip().strip("/")
        if pattern and not pattern.startswith(("#", "!")):
            parts = path.split("/")
            heads = ["/".join(parts[: at + 1]) for at in range(len(parts))]
            if any(fnmatch.fnmatchcase(head, pattern) for head in heads):
                return True
    return False


def is_copied(image: ImageFile, path: str) -> bool:
    """Whether some COPY or ADD takes `path` of environment/ into the image."""
    for step in image.steps:
        for source in sources_of(step):
            name = name_in_context(source)
            if name in (".", path) or path.startswith(name + "/"):
                return True
    return False
