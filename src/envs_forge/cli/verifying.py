"""Gold verification of many directories with progress and a clean stop."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

from envs_forge.bundle.model import Bundle
from envs_forge.cli.display import Display
from envs_forge.config import RunConfig
from envs_forge.errors import UserError
from envs_forge.files import write_text
from envs_forge.gold.batch import verify_many
from envs_forge.gold.cache import VerdictCache, default_cache_root
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.order import FAST, select
from envs_forge.gold.verdict import Verdict
from envs_forge.pipeline import InterruptedRunError
from envs_forge.run.interruption import heeded
from envs_forge.run.parts import cores, open_runtime_for
from envs_forge.run.seeds import select_paths


def verify_all(
    config: RunConfig,
    *,
    stages: str | None,
    fast: bool,
    all_findings: bool,
    cached: bool,
    output: Path | None,
    quiet: bool,
) -> list[Verdict]:
    """Verify the tasks that a config names, in their order; with `cached`, unchanged ones by their last verdict.

    Raises:
        UserError: There is no such stage, or `output` cannot be a directory.
        InterruptedRunError: Ctrl-C.
    """
    paths = select_paths(config.seeds, include=config.include, exclude=config.exclude, limit=config.limit)
    names = tuple(name.strip() for name in stages.split(",")) if stages else FAST if fast else ()
    select(names)
    settings = VerifyOptions(stages=names, all_findings=all_findings, retries=config.retries)
    if output is not None and output.exists() and not output.is_dir():
        raise UserError(f"{output} is no directory", fix="give another -o")
    tally = _Tally(len(paths), output)
    display = Display(tally.line, lambda: "verifying", quiet=quiet)
    with open_runtime_for(config) as runtime:
        runtime.engine.reap()
        with heeded(display.note) as stop, display.shown():
            verdicts = verify_many(
                paths,
                runtime,
                settings,
                concurrency=config.concurrency or cores(),
                cache=VerdictCache(default_cache_root()) if cached else None,
                on_verdict=tally.add,
                stop=stop,
            )
    if stop.is_set():
        raise InterruptedRunError(f"interrupted after {len(verdicts)} of {len(paths)} verdicts")
    return verdicts


class _Tally:
    """Counts verdicts for the display, and writes each to a file."""

    def __init__(self, total: int, output: Path | None) -> None:
        self._total = total
        self._output = output
        self._cached = 0
        self._names: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, verdict: Verdict, bundle: Bundle | Path) -> None:
        """Count one. Two tasks of one name and different content get a file each."""
        if self._output is not None:
            file = self._output / f"{verdict.bundle_id}.json"
            if self._names.setdefault(file.name, verdict.bundle_hash) != verdict.bundle_hash:
                file = file.with_name(f"{verdict.bundle_id}-{verdict.bundle_hash[:8]}.json")
            write_text(file, verdict.model_dump_json(indent=2) + "\n")
        with self._lock:
            self._counts[verdict.decision.value] += 1
            self._cached += verdict.cached

    def line(self) -> str:
        """`verified 3/5 · accepted 2 · rejected 1`."""
        with self._lock:
            parts = [f"{decision} {count}" for decision, count in sorted(self._counts.items())]
            known = [f"unchanged {self._cached}"] if self._cached else []
            return " · ".join([f"verified {self._counts.total()}/{self._total}", *parts, *known])
