"""The log of a service: one event a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value


@dataclass(frozen=True, slots=True)
class Event:
    """What a line of a log says. Where the label is None the line breaks off after the key."""

    time: str
    level: str
    message: str
    key: str
    label: str | None


@dataclass(frozen=True, slots=True)
class Log(Value):
    """Lines of `name=value` pairs in the order of time; the message, and a label that needs it, in double quotes.

    Attributes:
        key: Name of the field that tells what an event is about.
        label: Name of the last field, which goes with the key.
        events: One a line.
        newline: How lines end in the file.
    """

    reader = "lines"
    suffix = ".log"
    source = "log"

    key: str
    label: str
    events: tuple[Event, ...]
    newline: str = "\n"

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """One text file."""
        return {path: BundleFile(data="".join(line + self.newline for line in self.canon()).encode())}

    def canon(self) -> list[str]:
        """The lines."""
        return [self._line(event) for event in self.events]

    def _line(self, event: Event) -> str:
        text = f'time={event.time} level={event.level} msg="{event.message}" {self.key}={event.key}'
        if event.label is None:
            return text
        plain = event.label and " " not in event.label
        return f"{text} {self.label}={event.label}" if plain else f'{text} {self.label}="{event.label}"'
