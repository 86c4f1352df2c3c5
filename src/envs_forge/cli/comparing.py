"""Conducts a study: signals, what is said on the way, the files at its end."""

from __future__ import annotations

import time
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict

from envs_forge.errors import InfrastructureError
from envs_forge.files import write_json, write_text
from envs_forge.run.directory import RunDirectory
from envs_forge.run.interruption import heeded
from envs_forge.run.progress import clock
from envs_forge.study.analysis import Analysis, analyse
from envs_forge.study.cell import CellResult
from envs_forge.study.config import StudyConfig
from envs_forge.study.directory import StudyDirectory
from envs_forge.study.makeup import sizes
from envs_forge.study.plots import can_plot, write_plots
from envs_forge.study.tables import markdown
from envs_forge.study.working import Site, make_pools, missing, work
from envs_forge.train.rewards.source import StoppedError
from envs_forge.train.rewards.store import RewardStore


class Audit(BaseModel):
    """Rewards that were checked again. `mismatches` are contents on which two containers differed."""

    model_config = ConfigDict(frozen=True)

    rewards: int
    audits: int
    mismatches: tuple[str, ...]


def conduct_study(
    site: Site, config: StudyConfig, cells: int | None, *, name: str, note: Callable[[str], None]
) -> tuple[Analysis, Audit]:
    """Run the cells that are missing, at most `cells` of them, and analyse what is there.

    Raises:
        StoppedError: With the way on.
        InfrastructureError: The same.
    """
    directory = StudyDirectory(site.root)
    with RunDirectory(site.root).hold(), heeded(note) as stop:
        directory.begin(config)
        began, done = time.monotonic(), 0

        def on_cell(result: CellResult) -> None:
            nonlocal done
            done += 1
            note(
                f"cell {done}/{len(keys)} · {result.regime}/{result.reader}/{result.replicate}/{result.arm} · "
                f"held-out {result.base:.3f} → {result.trained:.3f} · {result.seconds:.0f} s · "
                f"elapsed {clock(time.monotonic() - began)}"
            )

        try:
            make_pools(site, config, note, stop)
            keys = missing(site, config)[:cells]
            if keys:
                work(site, config, keys, on_cell, stop)
        except (StoppedError, InfrastructureError) as error:
            error.fix = f"{error.fix}, then the same command goes on" if error.fix else "the same command goes on"
            raise
        results = directory.cells(config)
        analysis = analyse(config, results, sizes(directory.candidates))
        write_json(directory.results(name, ".json"), analysis.model_dump(mode="json"))
        write_text(directory.results(name, ".md"), markdown(analysis))
        if results and can_plot():
            write_plots(directory.results(name, ""), config, analysis, results)
        elif results:
            note("no plots without matplotlib: pip install 'envs-forge[report]'")
        with RewardStore(directory.rewards) as store:
            audits, differ = store.audited()
            contents = tuple(sorted({content for content, _ in differ}))
            return analysis, Audit(rewards=len(store), audits=audits, mismatches=contents)
