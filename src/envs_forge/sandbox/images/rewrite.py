"""Finds the images that a Dockerfile names, and puts others in their places."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from envs_forge.sandbox.images.dockerfile import Dockerfile, Instruction, Word
from envs_forge.sandbox.images.expansion import expand

FROM_FLAG = re.compile(r"--from=(\S+)", re.IGNORECASE)
MOUNT_FROM = re.compile(r"""--mount=(?:["']?[^\s]*,)?from=([^,\s"']+)""", re.IGNORECASE)
PLAIN_SYNTAX = re.compile(r"(?:docker\.io/)?docker/dockerfile(?::(?:latest|1(?:\.\d+){0,2}))?(?:@sha256:[0-9a-f]+)?")
MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64", "AMD64": "amd64"}


@dataclass(frozen=True, slots=True)
class Reference:
    """One place where a Dockerfile names an image from outside.

    `start`, `end` and `platform` (the span of a `--platform` flag) are places in the file.
    """

    name: str
    start: int
    end: int
    platform: tuple[int, int] | None = None


def references(dockerfile: Dockerfile) -> list[Reference]:
    """Every image that the build takes from outside: FROM, COPY --from, RUN --mount=…,from=; no stages, no scratch."""
    return list(_Scan(dockerfile).run())


def rewrite(dockerfile: Dockerfile, substitutions: Mapping[str, str], *, keep_syntax: bool = False) -> str:
    """The Dockerfile's text with images substituted and without a `# syntax=` line.

    A substitution has this machine's platform, so the `--platform` of its FROM goes with it.

    Args:
        dockerfile: What to change.
        substitutions: Name as in `Reference.name` → image to take instead.
        keep_syntax: Leave a `# syntax=` line alone, because a registry can serve it.
    """
    edits: list[tuple[int, int, str]] = []
    for reference in references(dockerfile):
        if reference.name in substitutions:
            edits.append((reference.start, reference.end, substitutions[reference.name]))
            if reference.platform:
                edits.append((*reference.platform, ""))
    syntax = dockerfile.directives.get("syntax")
    if syntax is not None and not keep_syntax:
        edits.append((syntax.start, syntax.end, ""))
    text = dockerfile.text
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def special_syntax(dockerfile: Dockerfile) -> str | None:
    """The image of a `# syntax=` line, unless it is the stock frontend, whose work the builder does by itself."""
    syntax = dockerfile.directives.get("syntax")
    return None if syntax is None or PLAIN_SYNTAX.fullmatch(syntax.value) else syntax.value


class _Scan:
    """Walks through the instructions with the stages and global ARGs known so far."""

    def __init__(self, dockerfile: Dockerfile) -> None:
        self._dockerfile = dockerfile
        self._arguments = _platform_arguments()
        self._stages = 0
        self._aliases: set[str] = set()

    def run(self) -> Iterator[Reference]:
        for instruction in self._dockerfile.instructions:
            match instruction.keyword:
                case "ARG" if self._stages == 0:
                    self._argument(instruction)
                case "FROM":
                    yield from self._stage(instruction)
                case "COPY" | "ADD":
                    yield from self._flags(instruction, FROM_FLAG)
                case "RUN":
                    yield from self._flags(instruction, MOUNT_FROM)

    def _argument(self, instruction: Instruction) -> None:
        for word in instruction.words()[1:]:
            name, equals, value = word.text.partition("=")
            if equals:
                self._arguments[name] = expand(value, self._arguments)

    def _stage(self, instruction: Instruction) -> Iterator[Reference]:
        flags, rest = _split_flags(instruction.words()[1:])
        self._stages += 1
        if rest:
            name = expand(rest[0].text, self._arguments)
            if name and name != "scratch" and name.lower() not in self._aliases:
                platforms = [flag.span() for flag in flags if flag.text.startswith("--platform")]
                yield Reference(name, *rest[0].span(), platforms[0] if platforms else None)
        if len(rest) >= 3 and rest[1].text.upper() == "AS":
            self._aliases.add(rest[2].text.lower())

    def _flags(self, instruction: Instruction, pattern: re.Pattern[str]) -> Iterator[Reference]:
        for flag in _split_flags(instruction.words()[1:])[0]:
            match = pattern.match(flag.text)
            if match and not self._is_stage(match[1]):
                yield Reference(match[1], *flag.span(*match.span(1)))

    def _is_stage(self, name: str) -> bool:
        return name.isdigit() or name.lower() in self._aliases or "$" in name or name == "scratch"


def _split_flags(words: list[Word]) -> tuple[list[Word], list[Word]]:
    count = next((n for n, word in enumerate(words) if not word.text.startswith("--")), len(words))
    return words[:count], words[count:]


def _platform_arguments() -> dict[str, str]:
    """Arguments that FROM lines may use without an ARG."""
    machine = MACHINES.get(platform.machine(), platform.machine())
    return {
        f"{side}{part}": value
        for side in ("BUILD", "TARGET")
        for part, value in (("PLATFORM", f"linux/{machine}"), ("OS", "linux"), ("ARCH", machine), ("VARIANT", ""))
    }
