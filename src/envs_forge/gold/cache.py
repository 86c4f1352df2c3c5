"""Verdicts of earlier runs, so that an unchanged pool is not verified again."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from pydantic import ValidationError

from envs_forge.bundle.model import Bundle
from envs_forge.files import write_text
from envs_forge.gold.guards import guards_of
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.verdict import Decision, Verdict
from envs_forge.sandbox.runtime import Runtime

KEPT = frozenset({Decision.ACCEPTED, Decision.REJECTED})
"""Decisions about the bundle. What the machine could not do today it may do tomorrow."""


def cache_address(bundle: Bundle, bundle_hash: str, version: str, options: VerifyOptions, runtime: Runtime) -> str:
    """Hex digest of all that a verdict depends on: content, verifier, options, engine, caps.

    The content's hash leaves the provenance out, but more is asked of bundles that have one.
    """
    facts = {
        "bundle": bundle_hash,
        "ours": bool(bundle.provenance),
        "guards": sorted(guards_of(bundle)),
        "verifier": version,
        "options": options.essence,
        "engine": runtime.engine.name,
        "caps": asdict(runtime.caps),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def default_cache_root() -> Path:
    """`$XDG_CACHE_HOME/envs-forge`, by default under `~/.cache`: verdicts and indices of image layers lie there."""
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "envs-forge"


class VerdictCache:
    """A directory of verdicts. Several processes may use it at once; a damaged entry counts as absent.

    Args:
        root: From `default_cache_root`; `verdicts` in it is made when the first verdict is kept.
    """

    def __init__(self, root: Path) -> None:
        self._directory = root / "verdicts"

    def get(self, address: str) -> Verdict | None:
        """The verdict kept at an address."""
        try:
            return Verdict.model_validate_json(self._path(address).read_bytes())
        except (OSError, ValidationError):
            return None

    def put(self, address: str, verdict: Verdict) -> None:
        """Keep a verdict, if it is one about the bundle."""
        if verdict.decision in KEPT:
            write_text(self._path(address), verdict.model_dump_json(indent=2) + "\n")

    def _path(self, address: str) -> Path:
        return self._directory / address[:2] / f"{address}.json"
