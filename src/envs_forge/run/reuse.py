"""Rollouts of earlier runs that this one need not pay for again.

The store is the runs themselves: `runs/*/ledger.sqlite`, and the neighbours of a run that lies elsewhere. A rollout is
taken over where the bundle's content, the policy's identity and what sandboxes get (caps, network, base images) are the
same. It is copied into the new run's ledger with its trajectory and names the run that it came from, so it is neither
run nor paid for nor counted twice, and the new run stands alone.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from envs_forge.config import RunConfig
from envs_forge.errors import ForgeError
from envs_forge.ledger.records import SessionRecord
from envs_forge.ledger.store import Ledger
from envs_forge.rollout.identity import policy_key
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.rollout.trial import COUNTED, JUDGED, Trial, TrialStatus, recounted
from envs_forge.run.directory import RUNS, RunDirectory

log = logging.getLogger(__name__)

KEPT = COUNTED | {TrialStatus.CONTEXT_EXCEEDED}
"""Ends that are taken over. An agent's own error may be mended by now, as may image, tests and machine."""
SURROUNDINGS = ("caps", "network", "base_images")
"""Keys of the config that change what a sandbox is like."""


def counted_statuses(config: RunConfig) -> frozenset[TrialStatus]:
    """Statuses that enter n by a config."""
    return JUDGED | {TrialStatus(name) for name in config.count}


def wanted_rollouts(config: RunConfig) -> int:
    """The most rollouts of one seed that a config can ask for."""
    return config.adaptive.cap if config.adaptive.enabled else config.rollouts


def earlier_trials(
    directory: RunDirectory, config: RunConfig, policy: PolicyIdentity, hashes: Collection[str]
) -> list[Trial]:
    """Trials of other runs that can stand for rollouts of this one, at most one for each; newest runs first.

    Args:
        directory: The run that wants them.
        config: Its config.
        policy: Its policy.
        hashes: Contents of its seeds.
    """
    found: dict[tuple[str, int], Trial] = {}
    counted, most = counted_statuses(config), wanted_rollouts(config)
    for root in _runs(directory):
        for trial in _trials(root, config, policy_key(policy), hashes):
            if trial.index < most and trial.status in KEPT:
                trial = recounted(trial, counted)
                came_from = trial.reused_from or root.name
                found.setdefault((trial.bundle_hash, trial.index), trial.model_copy(update={"reused_from": came_from}))
    return [found[key] for key in sorted(found)]


def _runs(directory: RunDirectory) -> Sequence[Path]:
    """Directories of other runs of the same user, those with the last names first."""
    own = directory.root.resolve()
    places = dict.fromkeys((own.parent, RUNS.resolve()))
    found = {path.parent.resolve() for place in places for path in place.glob("*/ledger.sqlite") if _is_ours(path)}
    return sorted(found - {own}, key=lambda path: (path.name, str(path)), reverse=True)


def _is_ours(path: Path) -> bool:
    try:
        return path.stat().st_uid == os.getuid()
    except OSError:
        return False


def _trials(root: Path, config: RunConfig, policy: str, hashes: Collection[str]) -> Iterator[Trial]:
    try:
        with Ledger.open(RunDirectory(root).ledger, read_only=True) as ledger:
            first = ledger.read(SessionRecord, number=1)
            if not first or not _alike(first[0].payload.get("config", {}), config):
                return
            rows = ledger.query("SELECT bundle_hash, payload FROM trials WHERE policy = ? ORDER BY rowid", policy)
            yield from (Trial.model_validate(json.loads(r["payload"])) for r in rows if r["bundle_hash"] in hashes)
    except (ForgeError, ValueError) as error:
        log.warning("rollouts of %s are left alone: %s", root, error)


def _alike(other: Mapping[str, Any], config: RunConfig) -> bool:
    own = config.model_dump(mode="json")
    return all(other.get(key) == own[key] for key in SURROUNDINGS)
