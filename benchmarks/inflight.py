"""Many assignments in flight against a slow model server: are all served, is memory flat, does a stop end it soon?

    python benchmarks/inflight.py --json

A real HTTP server answers each request after `--delay` seconds; sandboxes are played by the fakes of the loop's tests,
so that nothing but the loop, the client and the ledger is at work. Two arms: a run to its end, and one that is stopped
while every place waits for an answer that never comes. Keys: `in_flight`, `most_busy` (requests at once, as the server
saw), `seconds` and `ideal_seconds`, `rss_mb_start`, `rss_mb_full` (all in flight), `rss_mb_end` (after twice as many
answers), `stop_seconds`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from envs_forge.pipeline import InterruptedRunError  # noqa: E402
from models.server import ModelServer, Reply, hangs  # noqa: E402
from synthesis.llm.writing import answers, go, settings  # noqa: E402


def rss_mb() -> float:
    """Memory of this process, server and all."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def serve(places: int, delay_s: float) -> dict[str, Any]:
    """A run in which the first answer at each place is rejected and the repair is gold."""
    full: list[float] = []

    def script(body: Any, number: int) -> Reply:
        if number == places - 1:
            full.append(rss_mb())
        mended = len(body["messages"]) > 2
        return answers(f"new-{number}" if mended else f"bad weak-{number}", delay_s=delay_s)

    with tempfile.TemporaryDirectory() as root, ModelServer(script) as server:
        start, began = rss_mb(), time.monotonic()
        config = settings(server, size=places, in_flight=places, rollouts=1, writer=_patient(server))
        result = go(Path(root), server, config, seeds=places)
        seconds = result.totals.wall_seconds["made"]
        return {
            "in_flight": places,
            "most_busy": server.most_busy,
            "requests": len(server.requests),
            "accepted": result.accepted,
            "seconds": round(seconds, 2),
            "ideal_seconds": 2 * delay_s,
            "whole_run_seconds": round(time.monotonic() - began, 2),
            "rss_mb_start": round(start, 1),
            "rss_mb_full": round(full[0] if full else 0.0, 1),
            "rss_mb_end": round(rss_mb(), 1),
        }


def stop(places: int) -> dict[str, Any]:
    """A run that is stopped while all places wait."""
    signal = threading.Event()
    at: list[float] = []
    with tempfile.TemporaryDirectory() as root, ModelServer(lambda body, number: hangs()) as server:

        def pull() -> None:
            deadline = time.monotonic() + 120
            while server.most_busy < places and time.monotonic() < deadline:
                time.sleep(0.05)
            at.append(time.monotonic())
            signal.set()

        threading.Thread(target=pull, daemon=True).start()
        config = settings(server, size=places, in_flight=places, rollouts=1, writer=_patient(server))
        try:
            go(Path(root), server, config, seeds=places, stop=signal)
        except InterruptedRunError:
            return {"stopped_with_in_flight": server.most_busy, "stop_seconds": round(time.monotonic() - at[0], 2)}
    return {"stop_seconds": None}


def _patient(server: ModelServer) -> dict[str, Any]:
    return {"endpoint": {"base_url": server.url, "timeout_s": 120.0, "retries": 0}}


def main(arguments: list[str]) -> int:
    """Run both arms and print what they came to."""
    parser = argparse.ArgumentParser(prog="inflight", description=__doc__)
    parser.add_argument("--places", type=int, default=200)
    parser.add_argument("--delay", type=float, default=5.0)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    found = {**serve(asked.places, asked.delay), **stop(asked.places)}
    print(json.dumps(found, indent=2) if asked.json else "\n".join(f"{key:24} {found[key]}" for key in found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
