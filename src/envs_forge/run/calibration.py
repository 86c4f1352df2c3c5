"""Children that runs measured again, for calibration. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterable

from envs_forge.errors import UserError
from envs_forge.ledger.records import AttemptRecord, TrialRecord
from envs_forge.ledger.store import Ledger
from envs_forge.plan.transition.model import Child
from envs_forge.run.directory import RunDirectory
from envs_forge.run.place import Made


def measured_children(directory: RunDirectory) -> list[Child]:
    """Every candidate of a run that its policy attempted, accepted or not, with what was predicted for it.

    Those that a band turned away are among them: to leave them out would make every prediction look good.

    Raises:
        UserError: There is no such run, or it has not begun.
    """
    with Ledger.open(directory.ledger, read_only=True) as ledger:
        trials = ledger.read(TrialRecord, purpose="child")
        attempts = ledger.read(AttemptRecord)
    rewards: dict[str, list[float]] = {}
    for trial in trials:
        if trial.counted and trial.reward is not None:
            rewards.setdefault(trial.bundle_hash, []).append(trial.reward)
    made = {record.content_hash: record for record in reversed(attempts) if record.content_hash in rewards}
    return [
        _child(Made.model_validate(record.payload), rewards[key]) for key, record in made.items() if key is not None
    ]


def children_of(directories: Iterable[RunDirectory]) -> list[Child]:
    """The children of several runs.

    Raises:
        UserError: None of them measured any.
    """
    found = [child for directory in directories for child in measured_children(directory)]
    if not found:
        raise UserError("none of these runs measured its environments", fix="run with --remeasure K")
    return found


def _child(made: Made, rewards: list[float]) -> Child:
    assignment = made.assignment
    return Child(
        action=assignment.action,
        k=assignment.k,
        n=assignment.n,
        child_k=sum(rewards),
        child_n=len(rewards),
        predicted=assignment.predicted,
    )
