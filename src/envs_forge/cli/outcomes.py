"""What commands say at the end: tables and the next command, or the same as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from envs_forge.cli.conduct import seeds_of, shown
from envs_forge.cli.console import say, show_json, show_table
from envs_forge.cli.funnel import show_funnel, spending, usage
from envs_forge.cli.livetable import k_of_n
from envs_forge.cli.rates import histogram, show_rates
from envs_forge.config import RunConfig
from envs_forge.gold.verdict import Decision, Verdict
from envs_forge.run.directory import RunDirectory
from envs_forge.run.progress import clock
from envs_forge.run.result import EnvironmentRow, RunResult


def exit_code(result: RunResult) -> int:
    """0 when what was asked for is there, else 1."""
    measured = result.goal != "pass-rates" or (bool(result.seeds) and all(seed.n for seed in result.seeds))
    return 0 if result.state == "done" and measured else 1


def show_outcome(directory: RunDirectory, result: RunResult, *, json_: bool) -> None:
    """What a run of either goal came to."""
    show = show_rates if result.goal == "pass-rates" else show_result
    show(directory, result, json_=json_)


def show_result(directory: RunDirectory, result: RunResult, *, json_: bool) -> None:
    """What a run came to: its environments, what was rejected, where things are, what to do next."""
    if json_:
        show_json({"run": str(directory.root), **result.model_dump(mode="json")})
        return
    again = any(row.measured_n for row in result.environments)
    show_table(
        ("seed", "k/n", "action", "predicted", "F", *(("measured",) if again else ())),
        [
            (row.seed, k_of_n(row.k, row.n), row.action, *_scores(row), *((_measured(row),) if again else ()))
            for row in result.environments
        ],
        right=(1, 3, 4, 5),
    )
    say()
    say(f"{result.accepted} of {result.requested} environments accepted, {result.exported} exported")
    if result.rejections:
        say(f"rejected: {_reasons(result.rejections)}")
    if result.synthesis.tokens or result.synthesis.lost:
        say(spending(result.synthesis))
    if result.synthesis.stopped_by and result.state != "done":
        say(f"stopped: {result.synthesis.stopped_by}")
    place = shown(directory.root)
    if result.state == "done" or result.exported:
        say(f"results: {place}/export (tasks and index.jsonl), figures in {place}/result.json")
        say(f"next: envs-forge verify -p {place}/export/tasks")
    elif result.accepted:
        say(f"N was not reached. To export what there is: envs-forge export {place} --allow-short")
    else:
        say(f"N was not reached. Details: envs-forge status {place}")


def show_verdicts(verdicts: Sequence[Verdict], *, json_: bool) -> None:
    """Verdicts, with the evidence of those that did not pass as JSON only."""
    counts = Counter(verdict.decision.value for verdict in verdicts)
    if json_:
        found = [verdict.model_dump(mode="json") for verdict in verdicts]
        show_json({"verified": len(verdicts), **{decision.value: counts[decision.value] for decision in Decision},
                   "verdicts": found})  # fmt: skip
        return
    rows = []
    for verdict in verdicts:
        last = next((s for s in verdict.stages if s.stage == verdict.stage), None)
        reason = f"{verdict.stage}/{verdict.code}" if verdict.code else ""
        rows.append((verdict.bundle_id, verdict.decision.value, reason, last.message if last and reason else ""))
    show_table(("task", "decision", "reason", ""), rows)
    say()
    say(f"{len(verdicts)} verified: " + ", ".join(f"{count} {decision}" for decision, count in counts.items()))


def show_status(directory: RunDirectory, result: RunResult, *, json_: bool) -> None:
    """How far a run is."""
    in_use = directory.in_use()
    if json_:
        show_json({"run": str(directory.root), "in_use": in_use, **result.model_dump(mode="json")})
        return
    figures = result.totals
    say(f"{shown(directory.root)}: {_state(result, in_use)}")
    ends = ", ".join(f"{count} {status}" for status, count in figures.trials_by_status.items())
    say(f"rollouts {figures.trials}: {figures.counted} counted, {figures.invalid} not" + (f" ({ends})" if ends else ""))
    if result.goal == "pass-rates":
        for line in histogram([seed.rate for seed in result.seeds if seed.rate is not None]):
            say(line)
    if result.goal == "environments":
        waiting = result.verified - result.accepted
        more = f" (and {waiting} verified, to be settled)" if waiting else ""
        say(f"accepted {result.accepted}/{result.requested}{more}, exported {result.exported}")
        say(f"attempts {figures.attempts}, plans {figures.plans}, rejected {figures.rejected}: "
            f"{_reasons(result.rejections) or 'none'}")  # fmt: skip
    for role, used in figures.tokens.items():
        say(f"{role}: {usage(used, in_use=in_use)}")
    if result.synthesis.rows:
        show_funnel(result.synthesis, in_use=in_use)
    say("work: " + ", ".join(f"{name} {clock(seconds)}" for name, seconds in figures.seconds.items()))
    capped = result.synthesis.stopped_by if result.state != "done" else ""
    if capped:
        say(f"stopped: {capped}")
    if (result.state == "open" or capped) and not in_use:
        say(f"next: envs-forge resume {shown(directory.root)}")


def dry_run_document(config: RunConfig) -> dict[str, Any]:
    """What a run would do."""
    seeds = seeds_of(config)
    return {
        "config": config.model_dump(mode="json"),
        "seeds": {seed.id: seed.hash for seed in seeds},
        "rollouts": config.adaptive.budget_of(len(seeds)) if config.adaptive.enabled else len(seeds) * config.rollouts,
        "environments": config.plan.size if config.goal == "environments" else 0,
    }


def _measured(row: EnvironmentRow) -> str:
    return "–" if row.measured_k is None or not row.measured_n else k_of_n(row.measured_k, row.measured_n)


def _scores(row: Any) -> tuple[str, str]:
    return f"{row.predicted:.3f}", f"{row.frontier_score:.4f}"


def _reasons(rejections: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in rejections.items())


def _state(result: RunResult, in_use: bool) -> str:
    if in_use:
        return "at work"
    return {"done": "done", "short": "ended short of N", "open": "stopped before its end"}[result.state]
