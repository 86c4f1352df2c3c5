"""The page: what was gathered, filled into the template."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from envs_forge import __version__
from envs_forge.files import write_text
from envs_forge.report import plots
from envs_forge.report.curves import Curve
from envs_forge.report.gather import RunReport


@dataclass(frozen=True)
class Picture:
    """A plot: its file name, what it shows for those who cannot see it, and the SVG."""

    name: str
    alt: str
    svg: str

    @property
    def uri(self) -> str:
        """For an `img` element: so nothing in the picture can act, and ids of two pictures cannot clash."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg.encode()).decode()}"


@dataclass(frozen=True)
class RunSection:
    """One run with its pictures."""

    run: RunReport
    histogram: Picture
    reliability: Picture | None
    actions: Picture | None


def write_report(target: Path, runs: Sequence[RunReport], curves: Sequence[Curve]) -> list[Path]:
    """Write the page, and its plots into a folder beside it.

    Args:
        target: The HTML file.
        runs: At least one run or curve.
        curves: Trainings.

    Returns:
        Every file that was written, the page first.

    Raises:
        PrerequisiteError: matplotlib is missing.
        UserError: `target` cannot be written.
    """
    plots.require_plots()
    sections = [_section(run) for run in runs]
    learning = _learning(curves)
    pictures = [p for s in sections for p in (s.histogram, s.reliability, s.actions) if p is not None]
    pictures += [learning] if learning is not None else []
    folder = target.with_name(f"{target.stem}-plots")
    write_text(target, render(sections, curves, learning))
    for picture in pictures:
        write_text(folder / f"{picture.name}.svg", picture.svg)
    return [target, *(folder / f"{picture.name}.svg" for picture in pictures)]


def render(sections: Sequence[RunSection], curves: Sequence[Curve], learning: Picture | None) -> str:
    """The page as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("envs_forge.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(rate=_rate, count=_count)
    style = resources.files("envs_forge.report").joinpath("templates/style.css").read_text("utf-8")
    return environment.get_template("report.html.j2").render(
        sections=sections, curves=curves, learning=learning, style=style, version=__version__
    )


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


def _section(run: RunReport) -> RunSection:
    before = [seed.rate for seed in run.result.seeds if seed.rate is not None]
    predicted = [environment.predicted for environment in run.environments]
    points = [
        (environment.predicted, rate, environment.measured[1])
        for environment in run.environments
        if environment.measured and (rate := environment.measured_rate) is not None
    ]
    measured = [rate for _, rate, _ in points]
    alt = _rates_alt(before, measured or predicted, "measured" if measured else "predicted")
    return RunSection(
        run,
        Picture(f"{run.name}-pass-rates", alt, plots.histogram(before, predicted, measured)),
        Picture(f"{run.name}-reliability", _points_alt(points), plots.reliability(points)) if points else None,
        _action_picture(run),
    )


def _action_picture(run: RunReport) -> Picture | None:
    counts = _actions(run)
    if not counts:
        return None
    return Picture(f"{run.name}-actions", "; ".join(f"{name}: {n}" for name, n in counts), plots.actions(counts))


def _actions(run: RunReport) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for environment in run.environments:
        counts[environment.action] = counts.get(environment.action, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _learning(curves: Sequence[Curve]) -> Picture | None:
    if not curves:
        return None
    ends = "; ".join(f"{curve.name} from {_end(curve, 0)} to {_end(curve, -1)}" for curve in curves)
    return Picture("learning", f"Mean reward by step: {ends}", plots.learning(curves))


def _end(curve: Curve, at: int) -> str:
    known = [reward for reward in curve.rewards if reward is not None]
    return f"{known[at]:.2f}" if known else "no reward"


def _rates_alt(before: Sequence[float], after: Sequence[float], how: str) -> str:
    def inside(rates: Sequence[float]) -> str:
        return f"{sum(0.25 <= rate <= 0.75 for rate in rates)} of {len(rates)}"

    return f"Rates of 0.25 to 0.75: {inside(before)} seeds and, as {how}, {inside(after)} environments"


def _points_alt(points: Sequence[tuple[float, float, int]]) -> str:
    error = sum(abs(p - m) for p, m, _ in points) / len(points)
    return f"Predicted against measured pass rates of {len(points)} environments; mean absolute error {error:.2f}"
