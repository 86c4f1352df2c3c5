"""`task.yaml` → instruction and `task.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from envs_forge.bundle.finding import Finding
from envs_forge.bundle.formats.terminal_bench.service import Service
from envs_forge.bundle.text import decoding_finding

FILE = "task.yaml"
_MAX_VALUES = 10_000
"""Values of `task.yaml` that are kept as metadata."""
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Wording(BaseModel):
    """One of `descriptions`, the older way of giving the instruction."""

    key: str
    description: str


class Description(BaseModel):
    """What `task.yaml` says; keys that are not here go to the metadata."""

    model_config = ConfigDict(extra="allow", frozen=True)

    instruction: str | None = None
    descriptions: tuple[Wording, ...] = ()
    parser_name: str = "pytest"
    max_agent_timeout_sec: Seconds = 360.0
    max_test_timeout_sec: Seconds = 60.0
    run_tests_in_same_shell: bool = False

    @property
    def text(self) -> str:
        """The instruction; of several wordings the base one."""
        if self.instruction is not None:
            return self.instruction
        wordings = {wording.key: wording.description for wording in self.descriptions}
        return wordings.get("base") or next(iter(wordings.values()), "")


def parse_description(data: bytes) -> tuple[Description | None, list[Finding]]:
    """Read `task.yaml`.

    Returns:
        The description, or None with at least one error.
    """
    import yaml

    finding = decoding_finding(FILE, data, bom=None)
    if finding is not None:
        return None, [finding]
    try:
        table = yaml.safe_load(data.decode("utf-8-sig"))
        if not isinstance(table, dict):
            return None, [_fault("yaml-schema", "the file is not a mapping")]
        description = Description.model_validate({str(key): value for key, value in table.items()})
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = getattr(error, "problem", None) or "it cannot be parsed"
        return None, [_fault("yaml-syntax", message, mark.line + 1 if mark else None)]
    except (ValueError, RecursionError) as error:
        if not isinstance(error, ValidationError):
            return None, [_fault("yaml-syntax", "it cannot be parsed")]
        return None, [_fault("yaml-schema", f"{'.'.join(map(str, e['loc']))}: {e['msg']}") for e in error.errors()]
    if not description.text.strip():
        return None, [_fault("yaml-schema", "there is no instruction")]
    return description, []


def task_toml(description: Description, service: Service, canary: list[str], *, keystrokes: bool) -> bytes:
    """The same as a `task.toml`.

    Args:
        description: From `task.yaml`.
        service: From `docker-compose.yaml`: environment, working directory, limits, network.
        canary: Leading comment lines of `task.yaml`, kept as comments.
        keystrokes: The solution types keys that are no command lines, so there is none here.
    """
    import tomlkit

    document = tomlkit.document()
    for line in canary:
        document.add(tomlkit.comment(line.lstrip("# ")))
    document["schema_version"] = "1.4"
    metadata = _plain(description.model_extra or {}, [_MAX_VALUES])
    metadata["terminal_bench"] = {
        "parser": description.parser_name,
        "run_tests_in_same_shell": description.run_tests_in_same_shell,
    }
    if keystrokes:
        metadata["terminal_bench"]["solution"] = "keystrokes"
    document["metadata"] = metadata
    document["agent"] = {"timeout_sec": description.max_agent_timeout_sec}
    document["verifier"] = {"timeout_sec": description.max_test_timeout_sec}
    document["environment"] = service.environment_table()
    return tomlkit.dumps(document).encode()


def _plain(value: Any, room: list[int]) -> Any:
    """Values that TOML can hold; None inside of lists and tables is left out.

    YAML lets a few lines stand for any number of values, so `room` counts how many more there may be.
    """
    room[0] -= 1
    if room[0] < 0:
        return ""
    if isinstance(value, Mapping):
        return {str(key): _plain(item, room) for key, item in value.items() if item is not None and room[0] > 0}
    if isinstance(value, list | tuple):
        return [_plain(item, room) for item in value if item is not None and room[0] > 0]
    return value if isinstance(value, str | int | float | bool) else str(value)


def _fault(code: str, message: str, line: int | None = None) -> Finding:
    return Finding(code=code, file=FILE, line=line, message=message, fix="correct task.yaml")
