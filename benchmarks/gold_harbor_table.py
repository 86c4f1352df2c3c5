"""Which planted faults Harbor's own check of a task finds, beside ours: the table in `docs/verification.md`.

    python benchmarks/gold_harbor_table.py run --harbor PATH     # run nop and oracle on the bad bundles
    python benchmarks/gold_harbor_table.py write                 # write the table from what was run

`run` keeps what it has in `tests/gold/bundles/harbor.json` after every few bundles and goes on from there. The bundles
run as they are but for two things that Harbor's docker environment cannot do where no registry is in reach: base images
are replaced by the local one, and the mode without a network by the default.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import gold_harbor
from envs_forge.files import write_text
from envs_forge.sandbox.prerequisites import BASE_IMAGE

ROOT = Path(__file__).parents[1]
BAD = ROOT / "tests" / "gold" / "bundles" / "bad"
RESULTS = BAD.parent / "harbor.json"
DOCUMENT = ROOT / "docs" / "verification.md"
BEGIN, END = "<!-- harbor table: begin -->", "<!-- harbor table: end -->"
HARMFUL = frozenset(
    {"tests-eat-memory", "tests-fill-the-disk", "tests-fork-without-end", "tests-remove-everything", "tests-shout"}
)
"""Not run: nothing in that environment caps processes, the disk or output, and this machine is still needed."""
BATCH = 8
_FROM = re.compile(rb"^(FROM\s+)debian:\S+", re.MULTILINE)
_MODE = re.compile(rb"^network_mode.*\n", re.MULTILINE)


def run(harbor: str, seconds: float) -> int:
    """Run the bundles that have no result yet, for about so long; how many are left."""
    known = results()
    todo = [path for path in sorted(BAD.iterdir()) if path.name not in known and path.name not in HARMFUL]
    began = time.monotonic()
    while todo and time.monotonic() - began < seconds:
        batch, todo = todo[:BATCH], todo[BATCH:]
        known.update(_judged(harbor, batch))
        write_text(RESULTS, json.dumps(dict(sorted(known.items())), indent=1) + "\n")
        print(f"{len(known)} done, {len(todo)} left", file=sys.stderr, flush=True)
    return len(todo)


def results() -> dict[str, dict[str, str]]:
    """Bundle → agent → reward or error, as far as it is known."""
    return json.loads(RESULTS.read_bytes()) if RESULTS.exists() else {}


def _judged(harbor: str, paths: list[Path]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {path.name: {} for path in paths}
    with tempfile.TemporaryDirectory(prefix="envs-forge-harbor-") as folder:
        for path in paths:
            adapted(path, Path(folder))
        for agent in gold_harbor.AGENTS:
            try:
                trials = gold_harbor.run(harbor, Path(folder), agent, len(paths))
            except RuntimeError as error:
                if len(paths) > 1:  # one that it refuses keeps it from all: one by one
                    return {name: each for path in paths for name, each in _judged(harbor, [path]).items()}
                print(error, file=sys.stderr)
                trials = {}
            for path in paths:
                found[path.name][agent] = str(trials.get(path.name, "refused"))
    return found


def adapted(path: Path, folder: Path) -> None:
    """Copy a task into a folder, changed as far as the environment needs it."""
    place = folder / path.name
    shutil.copytree(path, place, symlinks=True)
    for file in place.rglob("Dockerfile"):
        file.write_bytes(_FROM.sub(rb"\g<1>" + BASE_IMAGE.encode(), file.read_bytes()))
    config = place / "task.toml"
    config.write_bytes(_MODE.sub(b"", config.read_bytes()))


def finds(judged: dict[str, str]) -> bool:
    """Whether nop and oracle together show that something is wrong: not 0 for the one, or not 1 for the other."""
    return judged.get("nop") != "0" or judged.get("oracle") != "1"


def table() -> str:
    """The table, one line a planted fault, with a line of sums above."""
    known = results()
    rows = []
    found = 0
    for path in sorted(BAD.iterdir()):
        planted, ours = _expected(path)
        judged = known.get(path.name)
        if judged is None:
            said = ("not run", "not run", "–")
        else:
            found += finds(judged)
            said = (judged["nop"], judged["oracle"], "found" if finds(judged) else "**not found**")
        rows.append(f"| {planted} | {said[0]} | {said[1]} | {said[2]} | {ours} |")
    ran = sum(path.name in known for path in BAD.iterdir())
    head = (
        f"Of the {ran} planted faults that were run, Harbor's check shows {found}; `envs-forge verify` rejects all "
        f"{len(rows)}, each for the planted reason.\n\n"
        "| planted | Harbor: nop | Harbor: oracle | Harbor's check | here |\n|---|---|---|---|---|\n"
    )
    return head + "\n".join(rows) + "\n"


def _expected(path: Path) -> tuple[str, str]:
    try:
        metadata = tomllib.loads((path / "task.toml").read_text())["metadata"]
    except tomllib.TOMLDecodeError:
        return "`task.toml` is no TOML", "`schema`: `toml-syntax`"
    return str(metadata["planted"]), f"`{metadata['expected_stage']}`: `{metadata['expected_code']}`"


def write() -> None:
    """Put the table between its marks in the document."""
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    write_text(DOCUMENT, f"{before}{BEGIN}\n{table()}{END}{after}")


def main() -> int:
    """Parse the command line; exit status 1 when bundles are left to run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "write"])
    parser.add_argument("--harbor", default="harbor", help="the harbor command (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="run about so long (default: %(default)s)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is removed
    if options.action == "run":
        return 1 if run(options.harbor, options.seconds) else 0
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
