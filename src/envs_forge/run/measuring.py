"""First stage: the policy attempts every seed, as often as the config says, and no rollout twice."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from envs_forge.bundle.model import Bundle
from envs_forge.config import RunConfig
from envs_forge.errors import ForgeError, InfrastructureError
from envs_forge.files import disk_faults, write_json
from envs_forge.rollout.jobs.writer import JobWriter
from envs_forge.rollout.passrate import pass_rate
from envs_forge.rollout.pool import RETRIED
from envs_forge.rollout.trial import PassRate, Trial, TrialStatus
from envs_forge.run.directory import RunDirectory
from envs_forge.run.journal import Journal
from envs_forge.run.parts import Parts
from envs_forge.run.progress import Phase, Progress
from envs_forge.run.reuse import counted_statuses, earlier_trials, wanted_rollouts
from envs_forge.run.seeds import Seed

Rates = Mapping[str, PassRate]
"""Pass rates by content hash."""
REUSED = "reused"
"""Kind of the event that says what was taken over from earlier runs."""


def measure_seeds(
    seeds: Sequence[Seed],
    parts: Parts,
    journal: Journal,
    directory: RunDirectory,
    *,
    config: RunConfig,
    progress: Progress,
    stop: threading.Event,
) -> Rates:
    """Run the rollouts that neither the journal nor earlier runs have, and write `pass-rates.json`.

    Returns:
        A pass rate of each seed. Where no rollout counted it has no rate.

    Raises:
        DiskFullError: There is no room for records; what is recorded is kept.
    """
    if not config.fresh and not journal.events(REUSED):
        _take_over(seeds, parts, journal, directory, config)
    known = journal.trials()
    _announce(seeds, known, progress, config)
    job = JobWriter(
        directory.jobs / "measure",
        parts.policy,
        {seed.id: seed.path for seed in seeds},
        source="seeds",
        engine=parts.engine,
        attempts=wanted_rollouts(config),
        concurrency=parts.workers,
    )
    bundles = {seed.hash: seed.bundle for seed in seeds}
    with disk_faults(job.directory):
        for trial in known:
            job.add(trial, bundles[trial.bundle_hash])
    rates = parts.measure(
        [seed.bundle for seed in seeds], known=known, on_trial=_keep(journal, job, progress), stop=stop
    )
    if not stop.is_set():
        job.finish()
    by_hash = {seed.hash: rate for seed, rate in zip(seeds, rates, strict=True)}
    write_json(directory.pass_rates, pass_rates_document(seeds, by_hash, parts, config))
    return by_hash


def _take_over(
    seeds: Sequence[Seed], parts: Parts, journal: Journal, directory: RunDirectory, config: RunConfig
) -> None:
    """Copy rollouts of earlier runs into the journal, once in the life of a run, before it runs any of its own."""
    have = {(trial.bundle_hash, trial.index) for trial in journal.trials()}
    found = earlier_trials(directory, config, parts.policy, {seed.hash for seed in seeds})
    taken = [trial for trial in found if (trial.bundle_hash, trial.index) not in have]
    for trial in taken:
        journal.add_trial(trial)
    journal.event(REUSED, trials=len(taken), runs=sorted({trial.reused_from for trial in taken}))


def _announce(seeds: Sequence[Seed], known: Sequence[Trial], progress: Progress, config: RunConfig) -> None:
    """Tell the display what there is to do, and what is done."""
    adaptive = config.adaptive
    total = adaptive.budget_of(len(seeds)) if adaptive.enabled else config.rollouts * len(seeds)
    progress.enter(Phase.MEASURING, done=sum(trial.counted for trial in known), total=total)
    first = adaptive.start if adaptive.enabled else config.rollouts
    progress.seeds_are({seed.hash: seed.id for seed in seeds}, asked=first)
    for trial in known:
        progress.note_trial(trial.bundle_hash, trial.status.value, trial.reward)


def recorded_rates(seeds: Sequence[Seed], journal: Journal) -> Rates:
    """Pass rates from what is recorded, nothing run."""
    trials: dict[str, list[Trial]] = {seed.hash: [] for seed in seeds}
    for trial in journal.trials():
        trials[trial.bundle_hash].append(trial)
    return {seed.hash: pass_rate(seed.id, seed.hash, trials[seed.hash]) for seed in seeds}


def is_complete(rates: Rates) -> bool:
    """Whether every rollout that was asked for has been run, as far as machine and endpoint are concerned."""
    return not any(rate.missing for rate in rates.values())


def require_counted(rates: Rates, trials: Sequence[Trial]) -> None:
    """Refuse to go on when nothing was measured at all.

    Raises:
        InfrastructureError: Machine or endpoint spoilt rollouts that a resume runs again.
        ForgeError: The policy or the tasks did; resuming would find the same.
    """
    if any(rate.n for rate in rates.values()):
        return
    ends = Counter(trial.status.value for trial in trials)
    told = next((trial.error for trial in reversed(trials) if trial.error), "")
    ways = ", ".join(f"{count} {status}" for status, count in ends.most_common()) or "there was none"
    message = f"none of the {len(trials)} rollouts counts ({ways})" + (f"; the last one: {told}" if told else "")
    if any(trial.status in RETRIED for trial in trials):
        raise InfrastructureError(message, fix="mend it (envs-forge doctor looks at the machine)")
    raise ForgeError(message, fix="mend the policy or the tasks, then measure again: nothing of this is used again")


def pass_rates_document(seeds: Sequence[Seed], rates: Rates, parts: Parts, config: RunConfig) -> dict[str, object]:
    """The measured pass rates as `envs-forge plan` reads them."""
    return {
        "schema_version": 1,
        "policy": parts.policy.model_dump(mode="json"),
        "counted": {status.value: status in counted_statuses(config) for status in TrialStatus},
        "pass_rates": [{"id": seed.id, **_row(rates[seed.hash])} for seed in seeds if rates[seed.hash].n],
        "missing": sum(rate.missing for rate in rates.values()),
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
        "statuses": dict(rate.statuses),
        "reused": rate.reused,
        "missing": rate.missing,
    }


def _keep(journal: Journal, job: JobWriter, progress: Progress) -> Callable[[Trial, Bundle], None]:
    def keep(trial: Trial, bundle: Bundle) -> None:
        journal.add_trial(trial)  # first: the job directory can be written again from it
        with disk_faults(job.directory):
            job.add(trial, bundle)
        if trial.counted:
            progress.count()
        else:
            progress.spoil()
        progress.note_trial(trial.bundle_hash, trial.status.value, trial.reward)

    return keep
