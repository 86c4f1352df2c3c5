"""What a plan costs to make: our planner beside the textbook model in PuLP with CBC and in HiGHS.

    python benchmarks/planner.py --json                        # everything, about 20 minutes on two cores
    python benchmarks/planner.py --quick                       # a small part, under two minutes
    python benchmarks/planner.py --seeds 3000 --skills 200     # one size, with all its variants
    python benchmarks/planner.py --only ours --seeds 1000000
    python benchmarks/planner.py --table rows.json             # Markdown of what --json printed

Every row is measured in a process of its own, which reads the instance from a file, so that `rss_mb` (the most memory
that it ever held, the instance and numpy included) owes nothing to other rows; with CBC it is the larger of the two
processes. `seconds` is wall time from arrays to a checked plan. The objective is in every row that of
the planner's evaluator, applied to what was chosen; `bound` is what no plan can exceed as far as the method tells.
A method that takes longer than `--limit` is stopped, its row has no objective, and it is not tried at larger sizes of
the same kind. The textbook model is tried up to 10,000 seeds, on random skills and N = S/10; with `--only` on all
variants of the sizes that are asked for.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner_instances import CONSTANTS, Spec, load, make, save

SEEDS = (1_000, 3_000, 10_000, 100_000, 1_000_000)
SKILLS = (0, 30, 200)
FAMILIES = 300
SMALL = 100
METHODS = ("ours", "pulp", "highs")
QUICK = (1_000, 3_000, 100_000)
TEXTBOOK_SEEDS = {"steep": 10_000, "published": 3_000}
COLUMNS = (
    "seeds",
    "skills",
    "families",
    "n",
    "constants",
    "method",
    "seconds",
    "rss_mb",
    "objective",
    "bound",
    "gap_of_f",
)


@dataclass(frozen=True)
class Job:
    """One row to be measured. `kind` are the rows that differ from it in the number of seeds alone."""

    spec: Spec
    method: str
    kind: tuple[object, ...]


def installed() -> tuple[str, ...]:
    """All methods, without PuLP where it is not installed."""
    if importlib.util.find_spec("pulp") is not None:
        return METHODS
    print("PuLP is not installed, its rows are left out: pip install -c constraints.txt -e '.[bench]'", file=sys.stderr)
    return tuple(method for method in METHODS if method != "pulp")


def jobs(options: argparse.Namespace) -> Iterator[Job]:
    """All rows that were asked for, small instances first."""
    methods = installed() if options.only is None else (options.only,)
    for seeds in options.seeds or (QUICK if options.quick else SEEDS):
        for skills in options.skills or ((200,) if options.quick else SKILLS):
            for spec in _variants(seeds, skills, options.quick):
                tenth = spec.size == max(1, seeds // 10)
                for method in methods:
                    if method == "ours" or options.only == method or _tried(spec, tenth, options.quick):
                        yield Job(spec, method, (method, skills, spec.families, tenth, spec.constants))


def _tried(spec: Spec, tenth: bool, quick: bool) -> bool:
    """Whether the textbook model is tried: where it may end in time, at the largest size with one pair of constants."""
    most = QUICK[0] if quick else TEXTBOOK_SEEDS[spec.constants]
    return spec.families is None and tenth and spec.seeds <= most


def _variants(seeds: int, skills: int, quick: bool) -> Iterator[Spec]:
    sizes = (max(1, seeds // 10),) if quick or seeds // 10 == SMALL else (max(1, seeds // 10), min(SMALL, seeds))
    for size in sizes:
        for families in (None,) if skills == 0 else (None, FAMILIES):
            for constants in ("steep",) if skills == 0 else CONSTANTS:
                yield Spec(seeds, skills, size, families, constants)


def measure(wanted: Sequence[Job], limit: float) -> Iterator[dict[str, Any]]:
    """One row a job, in their order. An instance is made once for all methods that follow each other on it."""
    given_up: set[tuple[object, ...]] = set()
    with tempfile.TemporaryDirectory(prefix="envs-forge-benchmark-") as folder:
        place, made = Path(folder) / "instance.npz", None
        for job in wanted:
            if job.kind in given_up:
                continue
            if made != job.spec:
                _child("--make", str(place), json.dumps(vars(job.spec)), limit=None)
                made = job.spec
            answer = _child("--solve", str(place), job.method, limit=limit if job.method != "ours" else None)
            if answer is None:
                given_up.add(job.kind)
                answer = {"note": f"stopped after {limit:g} s"}
            yield _row(job, answer)


def _row(job: Job, answer: dict[str, Any]) -> dict[str, Any]:
    spec = job.spec
    row = {"seeds": spec.seeds, "skills": spec.skills, "families": spec.families, "n": spec.size}
    row |= {"constants": spec.constants, "method": job.method}
    row |= {key: None for key in COLUMNS if key not in row}
    return {**row, **answer}


def _child(*argv: str, limit: float | None) -> dict[str, Any] | None:
    """What a fresh process of this program says; None when it had to be stopped, with all that it started."""
    command = [sys.executable, __file__, *argv]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, text=True) as process:
        try:
            said, _ = process.communicate(timeout=limit)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise
    if process.returncode != 0:
        raise SystemExit(f"failed with {process.returncode}: {' '.join(command)}")
    return dict(json.loads(said)) if said.strip() else {}


def solve(place: Path, method: str) -> dict[str, Any]:
    """Solve the instance in a file."""
    problem = load(place)
    details: dict[str, Any] = {}
    if method == "ours":
        from envs_forge.plan.solve import solve as plan

        plan_began = time.perf_counter()
        found = plan(problem)
        seconds = time.perf_counter() - plan_began
        chosen, bound = found.chosen, found.bound
        details = {key: int(found.solver[key]) for key in ("groups", "price_steps", "candidates_opened")}
    else:
        import planner_textbook

        began = time.perf_counter()
        answer = planner_textbook.pulp_cbc(problem) if method == "pulp" else planner_textbook.highs(problem)
        seconds = time.perf_counter() - began
        chosen, bound = answer.chosen, answer.bound
        details = {"seconds_building": round(answer.building, 3)}
    from envs_forge.plan.check import evaluate

    objective = evaluate(problem, chosen)
    total = float(problem.scores.ravel()[chosen].sum())
    gap = None if bound is None else max(0.0, bound - objective) / total
    return {
        "seconds": round(seconds, 3),
        "rss_mb": round(_peak_mb()),
        "objective": objective,
        "bound": bound,
        "gap": None if bound is None else max(0.0, bound - objective),
        "gap_of_f": gap,
        **details,
    }


def _peak_mb() -> float:
    """Most memory held by this process, or by one that it started and that has ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    status = Path("/proc/self/status")
    if status.exists():  # there ru_maxrss includes what the parent held when it forked
        own = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return max(own, children) / 1024
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, children) / scale


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    there = {package.metadata["Name"].lower(): package.version for package in importlib.metadata.distributions()}
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: there.get(name) for name in ("numpy", "highspy", "pulp")},
    }


def table(document: dict[str, Any]) -> Iterator[str]:
    """Lines of a Markdown table: one for each instance, the methods beside each other."""
    instances: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in document["rows"]:
        key = tuple(row[name] for name in ("seeds", "skills", "families", "n", "constants"))
        instances.setdefault(key, {})[row["method"]] = row
    yield "| seeds | skills | families | N | constants | ours, s | MB | gap of ΣF | PuLP + CBC, s | HiGHS, s |"
    yield "|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|"
    for key, methods in instances.items():
        ours = methods.get("ours", {})
        gap = "–" if ours.get("gap_of_f") is None else f"{ours['gap_of_f']:.0e}" if ours["gap_of_f"] > 1e-12 else "0"
        others = (_seconds(methods.get(method), document) for method in ("pulp", "highs"))
        cells = [*("–" if part is None else str(part) for part in key), _seconds(ours, document)]
        yield "| " + " | ".join([*cells, str(ours.get("rss_mb", "–")), gap, *others]) + " |"


def _seconds(row: dict[str, Any] | None, document: dict[str, Any]) -> str:
    if not row:
        return "–"
    return f"> {document.get('limit', 120):g}" if row["seconds"] is None else f"{row['seconds']:.2f}"


def show(row: dict[str, Any]) -> None:
    """One line of the table."""
    texts = []
    for column in COLUMNS:
        value = row.get(column)
        if value is None:
            text = "-"
        elif column in ("objective", "bound"):
            text = f"{value:.6f}"
        elif column == "gap_of_f":
            text = f"{value:.1e}"
        else:
            text = str(value)
        texts.append(text.rjust(max(9, len(column))))
    print("  ".join(texts), row.get("note", ""), flush=True)


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object: `machine`, `limit` and `rows`")
    parser.add_argument("--seeds", type=int, action="append", help="this size alone; repeatable")
    parser.add_argument("--skills", type=int, action="append", help="this number of skills alone; repeatable")
    parser.add_argument("--only", choices=METHODS, help="this method alone")
    parser.add_argument("--quick", action="store_true", help="up to 100,000 seeds, 200 skills, N = S/10")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a textbook model (default: %(default)s)")
    parser.add_argument("--solve", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--table", type=Path, metavar="FILE", help="print what --json said as Markdown")
    options = parser.parse_args()
    if options.table:
        print("\n".join(table(json.loads(options.table.read_text()))))
    elif options.make:
        save(make(Spec(**json.loads(options.make[1]))), Path(options.make[0]))
    elif options.solve:
        print(json.dumps(solve(Path(options.solve[0]), options.solve[1])))
    else:
        _report(list(jobs(options)), options)


def _report(wanted: Sequence[Job], options: argparse.Namespace) -> None:
    if not options.json:
        print("  ".join(column.rjust(9) for column in COLUMNS))
    rows = []
    for row in measure(wanted, options.limit):
        rows.append(row)
        if options.json:
            print(f"\r{len(rows)} of {len(wanted)} rows", end="", file=sys.stderr, flush=True)
        else:
            show(row)
    if options.json:
        print(file=sys.stderr)
        print(json.dumps({"machine": machine(), "limit": options.limit, "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
