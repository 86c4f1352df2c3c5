"""A measurement that lies on disk, as an evaluation. Runs nothing."""

from __future__ import annotations

from envs_forge.errors import UserError
from envs_forge.ledger.store import Ledger
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.run.directory import RunDirectory
from envs_forge.run.journal import Journal
from envs_forge.run.stored import stored_config
from envs_forge.train.evaluation import Evaluation, evaluate_trials


def stored_evaluation(directory: RunDirectory) -> Evaluation:
    """What the rollouts that a run recorded amount to.

    Raises:
        UserError: It has not begun.
    """
    config = stored_config(directory)
    with Ledger.open(directory.ledger, read_only=True) as ledger:
        journal = Journal(ledger)
        first = journal.first_session()
        trials = journal.trials()
    if first is None:
        raise UserError(f"{directory.root.name} has not begun", fix=f"envs-forge resume {directory.root}")
    lock = first.payload["lock"]
    tasks = {digest: name for name, digest in lock["seeds"].items()}
    own = [trial for trial in trials if trial.bundle_hash in tasks]
    return evaluate_trials(tasks, own, config.rollouts, policy=PolicyIdentity.model_validate(lock["policy"]).label)
