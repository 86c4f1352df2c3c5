"""The pictures of a study, as SVG and PNG. Needs matplotlib (extra `report`)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from envs_forge.study.analysis import REFERENCE, Analysis, ArmRow, fixed_recipes
from envs_forge.study.cell import CellResult
from envs_forge.study.config import StudyConfig

BLUE, GREY = "#0b5394", "#777777"
_BINS = 8


def can_plot() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def write_plots(target: Path, config: StudyConfig, analysis: Analysis, cells: Sequence[CellResult]) -> list[Path]:
    """Write every picture twice, as `<target>-<what>.svg` and `.png`.

    Args:
        target: Directory and first part of the names.
        config: The study.
        analysis: What came of the study.
        cells: Its cells.

    Returns:
        The files.
    """
    written: list[Path] = []
    for regime in dict.fromkeys(row.regime for row in analysis.rows):
        rows = [row for row in analysis.rows if row.regime == regime]
        whole = [row for row in rows if row.reader == rows[-1].reader]  # all readers together come last
        written += _save(_gains(whole), target, f"gains-{regime}")
        shown = {*config.claims, *fixed_recipes(config)}
        own = [cell for cell in cells if cell.regime == regime and cell.arm in shown]
        written += _save(_curves(own), target, f"learning-{regime}")
    for arm in config.claims:
        points = [(c.predicted, c.k / c.n) for cell in cells if cell.arm == arm for c in cell.children if c.n]
        written += _save(_reliability(points), target, f"calibration-{arm}") if points else []
    return written


def _gains(rows: Sequence[ArmRow]) -> Any:
    """What each arm gained over the untrained reader, with its interval."""
    ordered = sorted(rows, key=lambda row: row.gain.value)
    figure, axes = _axes("gain in held-out Pass@1, points", "", height=0.32 * len(ordered) + 1.2)
    for place, row in enumerate(ordered):
        value, low, high = (100 * number for number in (row.gain.value, row.gain.low, row.gain.high))
        colour = BLUE if row.arm == REFERENCE else GREY
        axes.errorbar(value, place, xerr=[[value - low], [high - value]], fmt="o", color=colour, capsize=3)
    axes.set_yticks(range(len(ordered)), [row.arm for row in ordered])
    axes.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    return figure


def _curves(cells: Sequence[CellResult]) -> Any:
    """Held-out gain against rollouts spent, those that measured among them; means over the cells of an arm.

    Shown are the arms that claim something and the fixed recipes.
    """
    figure, axes = _axes("rollouts spent", "gain in held-out Pass@1, points")
    arms = [arm for arm in dict.fromkeys(cell.arm for cell in cells)]
    for arm, mark in zip(arms, "osD^vx*+<>phd" * len(arms), strict=False):
        own = [cell for cell in cells if cell.arm == arm]
        looks = list(zip(*(cell.looks for cell in own), strict=False))
        spent = [sum(look.rollouts for look in at) / len(at) for at in looks]
        gains = [100 * sum(look.pass_at_1 for look in at) / len(at) for at in looks]
        base = gains[0] if gains else 0.0
        style: dict[str, Any] = {"color": BLUE, "linewidth": 2.2} if arm == REFERENCE else {"linewidth": 1.0}
        axes.plot(spent, [gain - base for gain in gains], marker=mark, markersize=4, label=arm, **style)
    figure.legend(frameon=False, fontsize=7, loc="outside upper center", ncols=4)
    return figure


def _reliability(points: Sequence[tuple[float, float]]) -> Any:
    """Measured against predicted pass rates of an arm's environments: means of bins, size by count."""
    figure, axes = _axes("predicted pass rate", "measured pass rate of the untrained reader")
    axes.plot([0, 1], [0, 1], color=GREY, linestyle=":", label="as predicted")
    bins: dict[int, list[tuple[float, float]]] = {}
    for point in points:
        bins.setdefault(min(int(point[0] * _BINS), _BINS - 1), []).append(point)
    for _, own in sorted(bins.items()):
        mean = [sum(point[axis] for point in own) / len(own) for axis in (0, 1)]
        axes.scatter(*mean, s=30 + 300 * len(own) / len(points), color=BLUE, alpha=0.7)
        axes.annotate(f"{len(own)}", mean, textcoords="offset points", xytext=(8, -4), fontsize=7)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    return figure


def _axes(x: str, y: str, height: float = 3.8) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.8, height), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, target: Path, what: str) -> list[Path]:
    import matplotlib as mpl

    paths = [target.with_name(f"{target.name}-{what}{suffix}") for suffix in (".svg", ".png")]
    target.parent.mkdir(parents=True, exist_ok=True)
    # Without date and with a fixed salt, equal figures are equal files.
    with mpl.rc_context({"svg.hashsalt": "envs-forge", "svg.fonttype": "path"}):
        figure.savefig(paths[0], format="svg", metadata={"Date": None})
        figure.savefig(paths[1], format="png", dpi=144, metadata={"Software": None})
    return paths
