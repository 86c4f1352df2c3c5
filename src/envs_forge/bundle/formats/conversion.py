"""Task directories of other formats → Harbor task directories on disk, with a report for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from envs_forge.bundle.check import check_bundle
from envs_forge.bundle.finding import BundleError, Finding, errors_of
from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.reading import read_bundle
from envs_forge.bundle.support import unsupported
from envs_forge.bundle.writing import write_bundle
from envs_forge.errors import InvariantError, UserError

HARBOR = "task.toml"


class Outcome(StrEnum):
    """What became of one task."""

    CONVERTED = "converted"
    HARBOR_ALREADY = "harbor-already"
    FAILED = "failed"


class Conversion(BaseModel):
    """The report on one task.

    Attributes:
        id: Name of the task, and of its new directory.
        source: Directory that was read.
        outcome: What became of it.
        content_hash: Of the Harbor task; empty unless converted.
        unsupported: What the converted task needs and the engines here do not give: codes and messages.
        findings: Why it failed, the first error first; of a converted task its warnings.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    source: str
    outcome: Outcome
    content_hash: str = ""
    unsupported: tuple[Finding, ...] = ()
    findings: tuple[Finding, ...] = ()


def convert_all(paths: Sequence[Path], parent: Path, *, dry_run: bool = False) -> list[Conversion]:
    """Write each task as a Harbor task `parent/<name>`; one that is broken costs only its own report.

    Args:
        paths: Task directories.
        parent: Made when missing.
        dry_run: Report only.

    Raises:
        UserError: A directory is there already, two tasks share a name, or the place cannot be written; nothing
            was written.
    """
    wanted = [path for path in paths if not (path / HARBOR).exists()]
    _refuse_taken(wanted, parent)
    return [_convert(path, parent, dry_run=dry_run) for path in paths]


def _refuse_taken(paths: Sequence[Path], parent: Path) -> None:
    """Nothing is ever overwritten, and nothing is written when something would be."""
    names = Counter(path.resolve().name for path in paths)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise UserError(f"several tasks are called {', '.join(sorted(twice))}", fix="convert them one by one")
    taken = sorted(name for name in names if (parent / name).exists() or (parent / name).is_symlink())
    if taken:
        more = f", and {len(taken) - 1} more" if len(taken) > 1 else ""
        raise UserError(f"{parent / taken[0]} exists already{more}", fix="choose another directory with -o")
    if parent.exists() and not parent.is_dir():
        raise UserError(f"{parent} is not a directory", fix="choose another one with -o")


def _convert(path: Path, parent: Path, *, dry_run: bool) -> Conversion:
    report = Conversion(id=path.resolve().name, source=str(path), outcome=Outcome.FAILED)
    if (path / HARBOR).exists():
        return report.model_copy(update={"outcome": Outcome.HARBOR_ALREADY})
    findings = check_bundle(path)
    errors = errors_of(findings)
    if errors:
        warnings = [finding for finding in findings if finding not in errors]
        return report.model_copy(update={"findings": (*errors, *warnings)})
    try:
        bundle = read_bundle(path)
    except BundleError as error:  # it changed meanwhile
        return report.model_copy(update={"findings": error.findings})
    return report.model_copy(
        update={
            "outcome": Outcome.CONVERTED,
            "content_hash": content_hash(bundle) if dry_run else _written(bundle, parent),
            "unsupported": tuple(unsupported(bundle)),
            "findings": tuple(findings),
        }
    )


def _written(bundle: Bundle, parent: Path) -> str:
    """Write a bundle, see that it reads back as it was, and return its content hash."""
    wanted = content_hash(bundle)
    if content_hash(read_bundle(write_bundle(bundle, parent))) != wanted:
        raise InvariantError(f"{bundle.id} on disk is not the task that was converted")
    return wanted
