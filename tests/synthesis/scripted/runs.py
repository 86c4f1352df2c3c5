"""Runs of the program against the scripted model, in processes of their own, and what must be true of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs_forge.bundle.reading import read_bundle
from envs_forge.ledger.records import AttemptRecord, DecisionRecord
from envs_forge.ledger.store import Ledger
from envs_forge.synthesis.generator import attempt_name
from models.server import ModelServer

from .answers import KEY
from .model import Given, ScriptedModel

POOL = Path(__file__).parents[3] / "seeds"
CODE = "import sys; from envs_forge.cli.app import main; sys.exit(main(sys.argv[1:]))"
CONFIG = """
generator = "llm"
verification = "fast"
rollouts = 2
retries = 2
{top}
[writer]
model = "scripted"
price = {{ prompt = 1.0, cached = 0.5, completion = 4.0 }}
sampling = {{ max_tokens = 20000 }}
[writer.endpoint]
base_url = "{url}"
timeout_s = 120
pause_s = 0.01
[plan]
size = {size}
{plan}
"""


@dataclass
class Scripted:
    """A directory with seeds, a config and a scripted model that is up."""

    here: Path
    pool: Path
    model: ScriptedModel
    server: ModelServer

    def start(self, *args: str) -> subprocess.Popen[str]:
        """Begin with these arguments."""
        command = [sys.executable, "-c", CODE, *args]
        environment = {**os.environ, "OPENAI_API_KEY": KEY}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=self.here, env=environment, text=True, **pipes)

    def begin(self, *args: str, run: str = "mine") -> subprocess.Popen[str]:
        """Begin a run."""
        return self.start("run", "-p", str(self.pool), "-c", "config.toml", "-o", run, "--json", *args)

    def ledger(self, run: str = "mine") -> Ledger:
        return Ledger.open(self.here / run / "ledger.sqlite", read_only=True)


def copy_pool(here: Path, seeds: Sequence[int]) -> Path:
    """Seeds by their numbers in the bundled pool."""
    for source in sorted(POOL.iterdir()):
        if source.is_dir() and int(source.name[:2]) in seeds:
            shutil.copytree(source, here / "pool" / source.name)
    return here / "pool"


@contextmanager
def scripted(here: Path, pool: Path, *, size: int, top: str = "", plan: str = "", **model: Any) -> Iterator[Scripted]:
    """A directory for runs on a pool, and a scripted model that knows the pool.

    Args:
        here: The directory.
        pool: The seeds.
        size: N.
        top: Further lines of the config.
        plan: Further lines of its table `plan`.
        model: Arguments of the scripted model.
    """
    script = ScriptedModel([read_bundle(path) for path in sorted(pool.iterdir())], **model)
    with ModelServer(script) as server:
        (here / "config.toml").write_text(CONFIG.format(url=server.url, size=size, top=top, plan=plan))
        yield Scripted(here, pool, script, server)


def finish(process: subprocess.Popen[str], *, code: int = 0) -> Any:
    """What the program said, as JSON."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == code, err[-3000:]
    return json.loads(out) if out else err


@dataclass(frozen=True)
class Fate:
    """What became of one answer."""

    given: Given
    outcome: str
    """`accepted`, or `stage/code`."""
    followed: bool
    """Whether a repair followed."""


def fates(this: Scripted, run: str = "mine") -> list[Fate]:
    """Every attempt with the answer that it came of."""
    found = []
    with this.ledger(run) as ledger:
        attempts = {attempt.key: attempt for attempt in ledger.read(AttemptRecord)}
        for decision in ledger.read(DecisionRecord):
            made = json.loads(
                (this.here / run / "candidates" / _name(attempts[decision.key]) / "made.json").read_text()
            )
            given = this.model.given[made["prompt_tokens"]]
            outcome = "accepted" if decision.accepted else f"{decision.stage}/{decision.code}"
            followed = (decision.slot, decision.plan, decision.draw, decision.repair + 1) in attempts
            found.append(Fate(given, outcome, followed))
    return found


def _name(attempt: AttemptRecord) -> str:
    return attempt_name(attempt.slot, attempt.plan, attempt.draw, attempt.repair)


def check(this: Scripted, result: dict[str, Any], size: int, run: str = "mine") -> list[Fate]:
    """Exactly N, none of them bad, every rejection for its reason, and totals that add up."""
    assert (result["state"], result["requested"], result["accepted"], result["exported"]) == ("done", size, size, size)
    told = fates(this, run)
    for fate in told:
        expected = fate.given.kind.outcomes or {"accepted"}
        assert fate.outcome in expected, (fate.given.kind.name, fate.given.asked.parent.id, fate.outcome)
    _check_totals(this, result, told)
    _check_export(this, size, run)
    return told


def _check_totals(this: Scripted, result: dict[str, Any], told: Sequence[Fate]) -> None:
    rejected = Counter(fate.outcome for fate in told if fate.outcome != "accepted")
    assert result["rejections"] == dict(rejected)
    used = result["totals"]["tokens"]["generator"]
    assert used["calls"] == len(this.model.given) == len(told)
    assert used["prompt_tokens"] == sum(given.prompt_tokens for given in this.model.given.values())
    assert used["completion_tokens"] == sum(given.completion_tokens for given in this.model.given.values())
    assert result["totals"]["attempts"] == len(told)


def _check_export(this: Scripted, size: int, run: str) -> None:
    tasks = sorted((this.here / run / "export" / "tasks").iterdir())
    assert len(tasks) == size
    for path in tasks:
        assert read_bundle(path).provenance["gold_verdict"]
    for path in (this.here / run).rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), f"{path} has the key"
