"""A Dockerfile as the rules see it: stages, instructions with lines, the shell commands of RUN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from envs_forge.gold.lint.shell import Command, Script
from envs_forge.sandbox.images.dockerfile import Dockerfile, DockerfileError, parse
from envs_forge.sandbox.images.expansion import expand
from envs_forge.sandbox.images.steps import Step, step_of


@dataclass(frozen=True, slots=True)
class Base:
    """One FROM: the image with global ARGs filled in, the stage's name, the line."""

    image: str
    stage: str
    line: int


class ImageFile:
    """A parsed Dockerfile."""

    def __init__(self, dockerfile: Dockerfile) -> None:
        self.text = dockerfile.text
        self.directives = dockerfile.directives
        self.steps = tuple(step_of(dockerfile.text, i) for i in dockerfile.instructions)
        self._instructions = dockerfile.instructions

    @classmethod
    def parse(cls, text: str) -> ImageFile | None:
        """None when it is no Dockerfile."""
        try:
            return cls(parse(text))
        except DockerfileError:
            return None

    @cached_property
    def bases(self) -> tuple[Base, ...]:
        """Every FROM, in order."""
        arguments: dict[str, str] = {}
        found: list[Base] = []
        for step in self.steps:
            if step.keyword == "ARG" and not found and step.words:
                name, _, value = step.words[0].partition("=")
                arguments[name] = expand(value, arguments)
            elif step.keyword == "FROM" and step.words:
                stage = step.words[2].lower() if len(step.words) > 2 else ""
                found.append(Base(expand(step.words[0], arguments), stage, step.line))
        return tuple(found)

    @property
    def foreign_bases(self) -> list[Base]:
        """The images that come from elsewhere: no earlier stage and not `scratch`."""
        stages: set[str] = set()
        found = []
        for base in self.bases:
            if base.image.lower() not in stages and base.image != "scratch":
                found.append(base)
            stages.add(base.stage)
        return found

    @property
    def is_official(self) -> bool:
        """Whether every base is an image of the public library, without an owner or a registry."""
        names = [base.image.removeprefix("docker.io/").removeprefix("library/") for base in self.foreign_bases]
        return bool(names) and not any("/" in name for name in names)

    @property
    def final_stage(self) -> tuple[Step, ...]:
        """The steps of the last stage."""
        starts = [at for at, step in enumerate(self.steps) if step.keyword == "FROM"]
        return self.steps[starts[-1] :] if starts else self.steps

    def last(self, keyword: str) -> Step | None:
        """The last instruction of this kind in the last stage."""
        return next((s for s in reversed(self.final_stage) if s.keyword == keyword), None)

    @cached_property
    def commands(self) -> tuple[tuple[Command, int], ...]:
        """The shell commands of every RUN, here-documents included, with the line of the Dockerfile."""
        return tuple(self._commands())

    def _commands(self) -> Iterator[tuple[Command, int]]:
        ends = [i.offsets[0] for i in self._instructions[1:]] + [len(self.text)]
        for instruction, step, end in zip(self._instructions, self.steps, ends, strict=True):
            if step.keyword != "RUN":
                continue
            body = step.text
            if "<<" in body:
                body += self.text[instruction.offsets[-1] + 1 : end]
            for command in Script("environment/Dockerfile", body).commands:
                yield command, step.line + (command.line - 1 if "<<" in body else 0)
