"""First stage: the policy attempts every seed, as often as the config says, and no rollout twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from envs_forge.bundle.model import Bundle
from envs_forge.errors import InfrastructureError
from envs_forge.files import write_json
from envs_forge.rollout.jobs.writer import JobWriter
from envs_forge.rollout.passrate import pass_rate
from envs_forge.rollout.trial import COUNTED, PassRate, Trial
from envs_forge.run.directory import RunDirectory
from envs_forge.run.journal import Journal
from envs_forge.run.parts import Parts
from envs_forge.run.progress import Phase, Progress
from envs_forge.run.seeds import Seed

Rates = Mapping[str, PassRate]
"""Pass rates by content hash."""


def measure_seeds(
    seeds: Sequence[Seed],
    parts: Parts,
    journal: Journal,
    directory: RunDirectory,
    *,
    rollouts: int,
    progress: Progress,
    stop: threading.Event,
) -> Rates:
    """Run the rollouts that the journal lacks and write `pass-rates.json`.

    Returns:
        A pass rate of each seed. Where no rollout counted it has no rate.

    Raises:
        InfrastructureError: Not one rollout on any seed counted.
    """
    known = journal.trials()
    progress.enter(Phase.MEASURING, done=_finished(known), total=rollouts * len(seeds))
    job = JobWriter(
        directory.jobs / "measure",
        parts.policy,
        {seed.id: seed.path for seed in seeds},
        source="seeds",
        engine=parts.engine,
        attempts=rollouts,
        concurrency=parts.workers,
    )
    bundles = {seed.hash: seed.bundle for seed in seeds}
    for trial in known:
        job.add(trial, bundles[trial.bundle_hash])
    rates = parts.measure(
        [seed.bundle for seed in seeds], known=known, on_trial=_keep(journal, job, progress), stop=stop
    )
    if not stop.is_set():
        job.finish()
    by_hash = {seed.hash: rate for seed, rate in zip(seeds, rates, strict=True)}
    write_json(directory.pass_rates, pass_rates_document(seeds, by_hash, parts))
    return by_hash


def recorded_rates(seeds: Sequence[Seed], journal: Journal) -> Rates:
    """Pass rates from what is recorded, nothing run."""
    trials: dict[str, list[Trial]] = {seed.hash: [] for seed in seeds}
    for trial in journal.trials():
        trials[trial.bundle_hash].append(trial)
    return {seed.hash: pass_rate(seed.id, seed.hash, trials[seed.hash]) for seed in seeds}


def require_counted(rates: Rates, trials: Sequence[Trial]) -> None:
    """Refuse to go on when nothing was measured at all."""
    if not any(rate.n for rate in rates.values()):
        errors = [trial.error or trial.status.value for trial in trials]
        raise InfrastructureError(
            f"none of the {len(trials)} rollouts counts; the last one: {errors[-1] if errors else 'there was none'}",
            fix="mend the policy and measure anew, or see envs-forge doctor",
        )


def pass_rates_document(seeds: Sequence[Seed], rates: Rates, parts: Parts) -> dict[str, object]:
    """The measured pass rates as `envs-forge plan` reads them."""
    return {
        "schema_version": 1,
        "policy": parts.policy.model_dump(mode="json"),
        "pass_rates": [{"id": seed.id, **_row(rates[seed.hash])} for seed in seeds if rates[seed.hash].n],
        "unmeasured": {seed.id: rates[seed.hash].invalid for seed in seeds if not rates[seed.hash].n},
    }


def _row(rate: PassRate) -> dict[str, object]:
    return {
        "content_hash": rate.bundle_hash,
        "k": rate.k,
        "n": rate.n,
        "invalid": rate.invalid,
        "pass_rate": rate.rate,
        "low": rate.low,
        "high": rate.high,
    }


def _keep(journal: Journal, job: JobWriter, progress: Progress) -> Callable[[Trial, Bundle], None]:
    def keep(trial: Trial, bundle: Bundle) -> None:
        job.add(trial, bundle)
        journal.add_trial(trial)
        if trial.status in COUNTED:
            progress.count()
        else:
            progress.spoil()

    return keep


def _finished(trials: Sequence[Trial]) -> int:
    return sum(trial.status in COUNTED for trial in trials)
