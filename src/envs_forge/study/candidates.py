"""Gold-verified candidates, kept by what they are made of: an arm that wants what another had gets the same bundle.

A run gives each slot draws of its own; here the slot is always 0, so that equal choices of two arms, readers or
replicates are one candidate, made and verified once. What an arm needed to get its N is counted as if it had made all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle
from envs_forge.bundle.provenance import set_provenance
from envs_forge.bundle.reading import read_bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.errors import InfrastructureError
from envs_forge.files import new_directory, write_text
from envs_forge.gold.verdict import Decision, Verdict
from envs_forge.plan.model import CandidateSkills
from envs_forge.study.pools import chain_of
from envs_forge.synthesis.generator import Assignment, Generator, Rejection
from envs_forge.synthesis.procedural.edits.moves import Uses

BUNDLE, RECORD = "bundle", "record.json"
SYNTHESIS, HELD_OUT = "synthesis", "held-out"


class Record(BaseModel):
    """What became of one draw: accepted, or rejected at `stage` for `code`."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = 1
    accepted: bool
    stage: str = ""
    code: str = ""
    content_hash: str = ""
    realised: tuple[str, ...] = ()


class Candidates:
    """Makes candidates and remembers them.

    Args:
        root: Where they are kept. Several processes may share it.
        generator: Who makes them.
        verify: Gold verification.
        held_out: Chains that no candidate may have.
    """

    def __init__(
        self, root: Path, generator: Generator, verify: Callable[[Bundle], Verdict], held_out: Collection[Uses]
    ) -> None:
        self._root, self._generator, self._verify = root, generator, verify
        self._held_out = frozenset(held_out)
        self._known: dict[str, tuple[Record, Bundle | None]] = {}

    def options(self, bundle: Bundle) -> Mapping[str, CandidateSkills | str]:
        """What could be made of a candidate."""
        return self._generator.options(bundle)

    def get(self, assignment: Assignment, parent: Bundle) -> tuple[Record, Bundle | None]:
        """The candidate of an assignment, made now or earlier; no bundle where it was rejected.

        Raises:
            InfrastructureError: The machine failed at its verification.
        """
        key = _key(assignment)
        if key not in self._known:
            directory = self._root / key
            if not (directory / RECORD).is_file():
                self._make(assignment, parent, directory)
            record = Record.model_validate_json((directory / RECORD).read_bytes())
            self._known[key] = (record, read_bundle(directory / BUNDLE) if record.accepted else None)
        return self._known[key]

    def _make(self, assignment: Assignment, parent: Bundle, directory: Path) -> None:
        answer = self._generator.generate(assignment, parent)
        if isinstance(answer, Rejection):
            _keep(directory, Record(accepted=False, stage=SYNTHESIS, code=answer.code), None)
            return
        if chain_of(answer.bundle) in self._held_out:
            _keep(directory, Record(accepted=False, stage=HELD_OUT, code=HELD_OUT), None)
            return
        verdict = self._verify(answer.bundle)
        if verdict.decision is Decision.ERROR:
            raise InfrastructureError(f"the machine failed at a verification: {verdict.stage}/{verdict.code}")
        record = Record(
            accepted=verdict.decision is Decision.ACCEPTED,
            stage=verdict.stage,
            code=verdict.code,
            content_hash=content_hash(answer.bundle),
            realised=answer.realised,
        )
        _keep(directory, record, isolated(answer.bundle, verdict) if record.accepted else None)


def isolated(bundle: Bundle, verdict: Verdict) -> Bundle:
    """The bundle with the isolation of its tests that verification found, which its rewards depend on."""
    return set_provenance(bundle, {**bundle.provenance, "isolation": verdict.isolation.value})


def _key(assignment: Assignment) -> str:
    facts = assignment.model_dump(
        mode="json", include={"draw", "seed_hash", "action", "required", "optional", "failed"}
    )
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]


def _keep(directory: Path, record: Record, bundle: Bundle | None) -> None:
    with new_directory(directory, replace=True, durable=False) as new:
        if bundle is not None:
            write_bundle(bundle.model_copy(update={"id": BUNDLE}), new)
        write_text(new / RECORD, record.model_dump_json() + "\n")
