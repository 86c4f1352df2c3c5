"""The pictures, as SVG. Colours are told apart by people who see few of them, and by shape and place besides."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from envs_forge.errors import PrerequisiteError
from envs_forge.files import write_text
from envs_forge.report.curves import Curve, read_curve
from envs_forge.run.rounds import LoopResult

BLUE, ORANGE, GREY = "#0b5394", "#c55a11", "#666666"
_SIZE = (6.4, 3.4)
_BINS = 10


def can_plot() -> bool:
    """Whether matplotlib is there."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def require_plots() -> None:
    """Check that matplotlib is there.

    Raises:
        PrerequisiteError: It is not.
    """
    if not can_plot():
        raise PrerequisiteError("matplotlib is not installed", fix="pip install 'envs-forge[report]'")


def histogram(before: Sequence[float], predicted: Sequence[float], measured: Sequence[float]) -> str:
    """Pass rates: the seeds' beside those of the environments, predicted or, where there are any, measured."""
    import numpy as np

    figure, axes = _axes("pass rate", "share")
    edges = np.linspace(0, 1, _BINS + 1)
    after, label = (measured, "environments, measured") if measured else (predicted, "environments, predicted")
    for rates, colour, name, shift in ((before, GREY, "seeds", -0.2), (after, BLUE, label, 0.2)):
        if rates:
            counts, _ = np.histogram(np.clip(rates, 0, 1), edges)
            axes.bar(
                (edges[:-1] + 0.05) + shift / _BINS,
                counts / len(rates),
                0.038,
                color=colour,
                label=f"{name} (n = {len(rates)})",
            )
    axes.axvline(0.5, color=ORANGE, linestyle=":", linewidth=1.5)
    axes.set_xlim(-0.02, 1.02)
    return _svg(figure, axes)


def reliability(points: Sequence[tuple[float, float, int]]) -> str:
    """Predicted against measured pass rates; each point is (predicted, measured, rollouts)."""
    figure, axes = _axes("predicted pass rate", "measured pass rate")
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.5, label="as predicted")
    axes.scatter(
        [p for p, _, _ in points], [m for _, m, _ in points], s=[18 + 4 * n for _, _, n in points],
        color=BLUE, alpha=0.55, label=f"environments (n = {len(points)})",
    )  # fmt: skip
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(-0.05, 1.05)
    return _svg(figure, axes)


def actions(counts: Sequence[tuple[str, int]]) -> str:
    """How often each action was chosen."""
    figure, axes = _axes("environments", "")
    names = [name for name, _ in reversed(counts)]
    bars = axes.barh(names, [count for _, count in reversed(counts)], color=BLUE)
    axes.bar_label(bars, padding=3)
    axes.margins(x=0.12)
    return _svg(figure, axes, legend=False)


def learning(curves: Sequence[Curve]) -> str:
    """Mean reward by step."""
    return _by_step("mean reward", [(curve.name, curve.steps, curve.rewards) for curve in curves])


def mixed(curves: Sequence[Curve]) -> str:
    """Share of the groups with a gradient, by step."""
    return _by_step("share of mixed groups", [(curve.name, curve.steps, curve.mixed) for curve in curves])


def write_curves(root: Path) -> list[Path]:
    """Draw the metrics of a training beside them, as `reward.svg` and `mixed.svg`.

    Returns:
        The files; none where matplotlib is missing.

    Raises:
        UserError: The records of the training are damaged.
    """
    if not can_plot():
        return []
    curve = read_curve(root)
    files = {root / "reward.svg": learning([curve]), root / "mixed.svg": mixed([curve])}
    for path, picture in files.items():
        write_text(path, picture)
    return list(files)


def held_out(result: LoopResult) -> str:
    """Held-out Pass@1 by round with its interval, and before the first; the share of mixed groups besides."""
    figure, axes = _axes("round", "share")
    known = [(row.round, row.pass_at_1, row.low, row.high) for row in result.rounds]
    points = [(at, value, low, high) for at, value, low, high in known if None not in (value, low, high)]
    start = [] if result.before is None else [(0, result.before, result.before, result.before)]
    places, values, lows, highs = list(zip(*start, *points, strict=True)) or ((), (), (), ())
    below = [value - low for value, low in zip(values, lows, strict=True)]
    above = [high - value for value, high in zip(values, highs, strict=True)]
    axes.errorbar(places, values, yerr=[below, above], color=BLUE, marker="o", capsize=3, label="held-out Pass@1")
    rounds = [row for row in result.rounds if row.groups]
    axes.plot(
        [row.round for row in rounds], [row.mixed / row.groups for row in rounds],
        color=ORANGE, marker="s", linestyle=":", label="mixed groups in training",
    )  # fmt: skip
    axes.set_xticks(range(len(result.rounds) + 1))
    axes.set_ylim(-0.02, 1.02)
    return _svg(figure, axes)


def _by_step(what: str, lines: Sequence[tuple[str, Sequence[int], Sequence[float | None]]]) -> str:
    """Figures between 0 and 1 by step; a step without one is left out."""
    figure, axes = _axes("step", what)
    for (name, steps, values), colour, mark in zip(
        lines, (BLUE, ORANGE, GREY) * len(lines), "osD^vx" * len(lines), strict=False
    ):
        known = [(step, value) for step, value in zip(steps, values, strict=True) if value is not None]
        axes.plot(
            [s for s, _ in known], [v for _, v in known], color=colour, marker=mark, markersize=3.5, linewidth=1.3,
            label=name,
        )  # fmt: skip
    axes.set_ylim(-0.02, 1.02)
    return _svg(figure, axes)


def _axes(x: str, y: str) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any, axes: Any, *, legend: bool = True) -> str:
    import matplotlib as mpl

    if legend and axes.get_legend_handles_labels()[0]:
        figure.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=3)
    target = io.StringIO()
    # Without date and with a fixed salt, equal figures are equal files.
    with mpl.rc_context({"svg.hashsalt": "envs-forge", "svg.fonttype": "path"}):
        figure.savefig(target, format="svg", metadata={"Date": None})
    return target.getvalue()
