"""A loop whose generator asks a real HTTP server, with fakes for all that needs a sandbox."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from envs_forge.bundle.model import Bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.config import RunConfig, make_config
from envs_forge.ledger.store import Ledger
from envs_forge.pipeline import run
from envs_forge.run.directory import RunDirectory
from envs_forge.run.parts import Parts, remembered_options
from envs_forge.run.result import RunResult
from envs_forge.run.seeds import load_seeds
from envs_forge.synthesis.llm.envelope import write_envelope
from envs_forge.synthesis.llm.generator import LlmGenerator
from models.server import ModelServer, Reply, says
from pipeline.fakes import World, bundle

Body = Mapping[str, Any]


def answers(text: str, **more: Any) -> Reply:
    """A bundle that says `text`, in the envelope."""
    return says(write_envelope(bundle("x", text)), **more)


def seed(number: int) -> Bundle:
    two = "#!/bin/bash\necho a > /app/a\necho b > /app/b\n"
    one = bundle(f"seed-{number}", f"Do {number}.\n")
    files = dict(one.files)
    files["solution/solve.sh"] = files["solution/solve.sh"].model_copy(update={"data": two.encode()})
    return one.model_copy(update={"files": files})


def pool(root: Path, count: int) -> list[Any]:
    place = root / "pool"
    if not place.exists():
        for number in range(count):
            write_bundle(seed(number), place)
    return load_seeds(sorted(place.iterdir()))


def settings(server: ModelServer, *, size: int = 2, **more: Any) -> RunConfig:
    writer = {
        "model": "asked",
        "endpoint": {"base_url": server.url, "timeout_s": 30.0, "retries": 2, "pause_s": 0.01},
        "price": {"prompt": 1.0, "cached": 0.5, "completion": 10.0},
        "sampling": {"max_tokens": 1000},
        **more.pop("writer", {}),
    }
    table = {"plan": {"size": size}, "rollouts": 2, "retries": 1, "generator": "llm", "writer": writer, **more}
    return make_config(table, where="test")


def go(
    root: Path,
    server: ModelServer,
    config: RunConfig | None = None,
    *,
    seeds: int = 4,
    world: World | None = None,
    change: Callable[[Parts], Parts] = lambda parts: parts,
    stop: threading.Event | None = None,
) -> RunResult:
    config = config or settings(server)
    directory = RunDirectory(root / "run")
    directory.root.mkdir(exist_ok=True)
    world = world or World()
    generator = LlmGenerator(config.writer, seed=config.seed)
    parts = world.parts()

    def close() -> None:
        generator.cancel()
        world.close()

    parts = replace(
        parts,
        generator=generator,
        options=remembered_options(generator),
        close=close,
        in_flight=config.in_flight or 4,
        identity=generator.identity,
    )
    return run(directory, config, pool(root, seeds), change(parts), stop=stop)


def ledger(root: Path) -> Ledger:
    return Ledger.open(root / "run" / "ledger.sqlite", read_only=True)
