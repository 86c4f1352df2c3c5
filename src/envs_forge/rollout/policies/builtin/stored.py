"""Parameters of the builtin policy as a JSON file: what training writes and `--policy builtin:FILE` reads."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from envs_forge.errors import UserError
from envs_forge.files import write_text
from envs_forge.rollout.policies.builtin.parameters import BuiltinParameters


def read_parameters(path: Path) -> BuiltinParameters:
    """Parameters from a file.

    Raises:
        UserError: It cannot be read, or holds something else.
    """
    try:
        return BuiltinParameters.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror}", fix="give builtin:FILE a file that train wrote"
        ) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UserError(f"{path} holds no parameters of the builtin policy: {place} {first['msg']}") from error


def write_parameters(path: Path, parameters: BuiltinParameters) -> None:
    """Write parameters so that `read_parameters` gives them back to the last bit."""
    write_text(path, parameters.model_dump_json(indent=2) + "\n")
