"""Pass rates from a file: JSON, JSON lines, CSV, or Parquet where pyarrow is installed.

    rows = read_pass_rates(Path("rates.csv"))

A row names its seed as `id` (or `seed`, `seed_id`, `task`, `task_id`, `bundle_id`, `name`) and gives either `k` and `n`
(sum of rewards and number of rollouts; also `successes`/`reward_sum` and `trials`/`rollouts`), or `rate` and `n` (also
`pass_rate`, `p`), or `rewards`, a list of numbers. JSON is a list of such rows, `{"seeds": [...]}` or the like with one
list in it, or an object from id to such a row. `content_hash` is taken where a row has one, and so are `skills`: a
list, or names of the skill graph separated by spaces, commas or semicolons.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.plan.skills import load_graph

ID_KEYS = ("id", "seed", "seed_id", "task", "task_id", "bundle_id", "name")
K_KEYS = ("k", "successes", "reward_sum")
N_KEYS = ("n", "trials", "rollouts")
RATE_KEYS = ("rate", "pass_rate", "p")

_SHOWN = 5


class PassRateRow(BaseModel):
    """One seed's measurement. `row` says where it came from, counted from 1 without a header."""

    model_config = ConfigDict(frozen=True)

    id: str
    k: float
    n: int
    content_hash: str = ""
    skills: tuple[str, ...] = ()
    row: int = 0


def read_pass_rates(path: Path, *, rate_alone: bool = False) -> tuple[PassRateRow, ...]:
    """Read and check a file of pass rates.

    Args:
        path: The file; its suffix says the format.
        rate_alone: Take a rate without the number of its rollouts, as if it were one rollout's reward.

    Raises:
        UserError: No such file, not the format that its name says, or rows that cannot be used, naming them.
        PrerequisiteError: A Parquet file without pyarrow.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise UserError(f"{path}: unknown kind of file", fix=f"one of {', '.join(_READERS)}")
    return check_rows(reader(path, data), name=str(path), rate_alone=rate_alone)


def check_rows(rows: Sequence[Mapping[str, Any]], *, name: str, rate_alone: bool = False) -> tuple[PassRateRow, ...]:
    """Turn raw rows into measurements; all mistakes in one line, by kind.

    Raises:
        UserError: No rows, or rows that cannot be used.
    """
    if not rows:
        raise UserError(f"{name}: no pass rates in it")
    parsed: list[PassRateRow] = []
    faults: dict[str, list[str]] = {}
    for number, row in enumerate(rows, start=1):
        result = _parse(row, number, rate_alone)
        if isinstance(result, str):
            faults.setdefault(result, []).append(str(number))
        else:
            parsed.append(result)
    counts = Counter(row.id for row in parsed)
    twice = [f"{row.row} ({row.id})" for row in parsed if counts[row.id] > 1]
    if twice:
        faults["the same id more than once"] = twice
    if faults:
        lines = [f"{fault}: row{'s' * (len(where) > 1)} {_listing(where)}" for fault, where in faults.items()]
        raise UserError(f"{name}: " + "; ".join(lines))
    return tuple(parsed)


def _parse(row: Mapping[str, Any], number: int, rate_alone: bool) -> PassRateRow | str:
    """A measurement, or what is wrong with the row."""
    if not isinstance(row, Mapping):
        return "not an object with id, k and n"
    id_ = _first(row, ID_KEYS)
    if id_ is None or str(id_).strip() == "":
        return "no id"
    numbers, skills = _numbers(row, rate_alone), _skills(row.get("skills"))
    if isinstance(numbers, str):
        return numbers
    if isinstance(skills, str):
        return skills
    k, n = numbers
    digest = str(row.get("content_hash") or "")
    return PassRateRow(id=str(id_).strip(), k=k, n=n, content_hash=digest, skills=skills, row=number)


def _skills(value: Any) -> tuple[str, ...] | str:
    """Names of the skill graph, or what is wrong with them."""
    names = re.split(r"[\s,;]+", value) if isinstance(value, str) else value or []
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        return "skills is no list of names"
    found = tuple(dict.fromkeys(name for name in names if name))
    unknown = load_graph().unknown(found) if found else ()
    return f"unknown skills {_listing(unknown)}" if unknown else found


def _numbers(row: Mapping[str, Any], rate_alone: bool) -> tuple[float, int] | str:
    rewards = row.get("rewards")
    if isinstance(rewards, list):
        values = [_float(value) for value in rewards]
        return _checked(sum(values), len(values), values)
    n_value, k_value, rate = _first(row, N_KEYS), _first(row, K_KEYS), _first(row, RATE_KEYS)
    if n_value is None and rate_alone and k_value is None and rate is not None:
        n_value = 1
    if n_value is None:
        return "no n (only plug-in scoring takes a rate without the number of its rollouts)"
    n = _float(n_value)
    if not math.isfinite(n) or n != int(n):
        return "n is not a whole number"
    if k_value is None and rate is None:
        return "neither k nor a rate"
    k = _float(k_value) if k_value is not None else _float(rate) * n
    if k_value is not None and rate is not None and n > 0 and not math.isclose(k / n, _float(rate), abs_tol=1e-6):
        return "k / n and the rate differ"
    return _checked(k, int(n), [k / n] if n > 0 else [])


def _checked(k: float, n: int, values: Iterable[float]) -> tuple[float, int] | str:
    if n <= 0:
        return "n = 0"
    values = list(values)
    if not all(math.isfinite(value) for value in values):
        return "the rate is not a number"
    if not all(0.0 <= value <= 1.0 for value in values):
        return "the rate is not in [0, 1]"
    return k, n


def _first(row: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((row[key] for key in keys if row.get(key) not in (None, "")), None)


def _float(value: Any) -> float:
    """The number that a value stands for, NaN where it stands for none."""
    if isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _listing(places: Sequence[str]) -> str:
    rest = len(places) - _SHOWN
    return ", ".join(places[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error


def _read_json(path: Path, data: bytes) -> list[Mapping[str, Any]]:
    try:
        value = json.loads(_text(path, data))
    except ValueError as error:
        raise UserError(f"{path} is not JSON: {error}") from error
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        lists = [entry for entry in value.values() if isinstance(entry, list)]
        if len(lists) == 1:
            return list(lists[0])
        if all(isinstance(entry, Mapping) for entry in value.values()):
            return [{"id": key, **entry} for key, entry in value.items()]
    raise UserError(f"{path}: neither a list of rows nor an object from id to row")


def _read_json_lines(path: Path, data: bytes) -> list[Mapping[str, Any]]:
    rows = []
    for number, line in enumerate(_text(path, data).splitlines(), start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise UserError(f"{path}, line {number} is not JSON: {error}") from error
    return rows


def _read_csv(path: Path, data: bytes) -> list[Mapping[str, Any]]:
    text = _text(path, data)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise UserError(f"{path} is not CSV: {error}") from error


def _read_parquet(path: Path, data: bytes) -> list[Mapping[str, Any]]:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise PrerequisiteError(f"{path} needs pyarrow", fix="pip install pyarrow, or write CSV or JSON") from error
    try:
        return list(parquet.read_table(arrow.BufferReader(data)).to_pylist())
    except arrow.ArrowException as error:
        raise UserError(f"{path} is not Parquet: {error}") from error


_READERS: Mapping[str, Callable[[Path, bytes], list[Mapping[str, Any]]]] = {
    ".json": _read_json,
    ".jsonl": _read_json_lines,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".parquet": _read_parquet,
}
