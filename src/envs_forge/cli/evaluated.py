"""What `envs-forge evaluate` says: figures under both denominators, and comparisons."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from envs_forge.cli.conduct import shown
from envs_forge.cli.console import say, show_json, show_table
from envs_forge.run.directory import RunDirectory
from envs_forge.run.evaluated import stored_evaluation
from envs_forge.train.estimators import Estimate, PairedEstimate
from envs_forge.train.evaluation import Comparison, Evaluation, compare


class Compared(BaseModel):
    """Two evaluations and their difference."""

    model_config = ConfigDict(frozen=True)

    a: Evaluation
    b: Evaluation
    difference: Comparison
    """Pass@1 of A minus that of B."""


def comparison_document(a: RunDirectory, b: RunDirectory) -> Compared:
    """Compare two runs that were measured."""
    one, other = stored_evaluation(a), stored_evaluation(b)
    return Compared(a=one, b=other, difference=compare(one, other))


def show_evaluation(directory: RunDirectory, evaluation: Evaluation, *, json_: bool) -> None:
    """The tasks, then Pass@k over the rollouts that count and over all."""
    if json_:
        show_json({"run": str(directory.root), **evaluation.model_dump(mode="json")})
        return
    rows = [(t.id, f"{t.passed}/{t.valid}", f"{t.passed}/{t.rollouts}") for t in evaluation.tasks]
    show_table(("task", "passed of valid", "of all"), rows, right=(1, 2))
    say()
    _show_figures(evaluation)
    if evaluation.missing:
        say(f"{evaluation.missing} rollouts were not made: envs-forge evaluate {shown(directory.root)}")
    say(f"next: envs-forge evaluate --compare {shown(directory.root)} OTHER_RUN")


def show_comparison(found: Compared) -> None:
    """A against B."""
    for name, side in (("A", found.a), ("B", found.b)):
        say(f"{name}: {side.policy}, {len(side.tasks)} tasks, {side.attempts} rollouts each")
        _show_figures(side)
        say()
    rows = [
        (name, *_paired(pair))
        for name, pair in (("valid", found.difference.valid), ("all", found.difference.all_trials))
    ]
    show_table(("Pass@1, A − B", "difference", "95 % interval", "better", "equal", "worse", "unpaired"), rows,
               right=(1, 3, 4, 5, 6))  # fmt: skip


def _show_figures(evaluation: Evaluation) -> None:
    valid, everything = evaluation.valid, evaluation.all_trials
    rows = [
        (f"Pass@{k}", *_cells(estimate), _few(valid.without[k]), *_cells(everything.pass_at[k]))
        for k, estimate in valid.pass_at.items()
    ]
    rows.append(("mean reward", *_cells(valid.mean_reward), "", *_cells(everything.mean_reward)))
    show_table(("", "valid", "95 % interval", "left out", "all", "95 % interval"), rows, right=(1, 3, 4))
    say(f"{valid.rollouts} of {everything.rollouts} rollouts have a reward; 'all' counts the others as failures")


def _few(tasks: int) -> str:
    return f"{tasks} tasks" if tasks else ""


def _cells(estimate: Estimate | None) -> tuple[str, str]:
    if estimate is None:
        return "–", "–"
    return f"{estimate.value:.3f}", f"{estimate.low:.3f} to {estimate.high:.3f}"


def _paired(pair: PairedEstimate | None) -> tuple[str, str, str, str, str, str]:
    if pair is None:
        return "–", "no task in common", "", "", "", ""
    gap = pair.difference
    counts = (pair.better, pair.equal, pair.worse, pair.unpaired)
    better, equal, worse, unpaired = map(str, counts)
    return f"{gap.value:+.3f}", f"{gap.low:+.3f} to {gap.high:+.3f}", better, equal, worse, unpaired
