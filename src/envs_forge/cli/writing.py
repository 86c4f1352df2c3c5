"""Options of the commands that synthesise: who writes, who judges, what it may cost, what a candidate must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from envs_forge.cli.options import chained
from envs_forge.errors import UserError

if TYPE_CHECKING:
    from envs_forge.config import RunConfig

Row = tuple[str, type, str, str]
"""An option: flag, type, form of its value, help."""
F = TypeVar("F", bound=Callable[..., Any])
_NAMES: Mapping[str, str] = {
    "generator_model": "writer.model",
    "generator_url": "writer.endpoint.base_url",
    "judge_model": "judge.model",
    "judge_url": "judge.endpoint.base_url",
    "judge_rejects": "judge.rejects",
    "max_cost": "budget.usd",
    "max_tokens": "budget.tokens",
    "max_calls": "budget.calls",
    "max_minutes": "budget.minutes",
}


_WRITER: tuple[Row, ...] = (
    (
        "--generator",
        str,
        "NAME",
        "Who writes the bundles: procedural or llm [default: procedural; with a model llm].",
    ),
    ("--generator-model", str, "MODEL", "Model of the generator llm."),
    ("--generator-url", str, "URL", "OpenAI-compatible endpoint that serves it, else OPENAI_BASE_URL."),
    ("--price", str, "P[:CACHED]:C", "Dollars a million tokens of its prompts and its answers."),
    ("--draws", int, "D", "Tries at a place before its candidate gives it up [default: 3]."),
    ("--repairs", int, "R", "Times that a rejected draw goes back to its writer [default: 2]."),
    ("--in-flight", int, "N", "Places worked on at once [default: 16 where a model writes]."),
)
_BUDGET: tuple[Row, ...] = (
    ("--max-cost", float, "USD", "Most dollars for models that write and judge."),
    ("--max-tokens", int, "N", "Most tokens of theirs, prompts and answers together."),
    ("--max-calls", int, "N", "Most requests to them."),
    ("--max-minutes", float, "M", "Most minutes of asking them."),
)
_CHECKS: tuple[Row, ...] = (
    ("--judge-model", str, "MODEL", "A model that gives its opinion on verified candidates."),
    ("--judge-url", str, "URL", "OpenAI-compatible endpoint that serves it."),
    ("--judge-price", str, "P[:CACHED]:C", "Dollars a million tokens of the judge."),
    ("--remeasure", int, "K", "Rollouts of the policy on each verified candidate."),
    ("--band", str, "LO:HI", "Measured pass rates that are accepted, e.g. 0.1:0.9. Needs --remeasure."),
    ("--seed", int, "S", "Number that all randomness starts from [default: 0]."),
)


def synthesis() -> Callable[[F], F]:
    """Everything about synthesis that a user may set on the command line."""
    return chained(
        *_options(_WRITER),
        *_options(_BUDGET),
        *_options(_CHECKS),
        click.option(
            "--against", multiple=True, metavar="PATH",
            help="Evaluation tasks that nothing may resemble: directories or JSONL files. Repeatable.",
        ),
        click.option(
            "--canary", "canaries", multiple=True, metavar="TEXT", help="Text that marks evaluation data. Repeatable."
        ),
        click.option("--judge-rejects", is_flag=True, help="Let the judge reject; else its opinion is only recorded."),
        click.option("--fast", is_flag=True, help="Verify only up to the oracle, as `verify --fast` does."),
        click.option("--allow-short", is_flag=True, help="Export what there is when N cannot be reached."),
    )  # fmt: skip


def budget() -> Callable[[F], F]:
    """Caps on what models may cost: `--max-cost --max-tokens --max-calls --max-minutes`."""
    return chained(*_options(_BUDGET))


def _options(rows: tuple[Row, ...]) -> list[Callable[[F], F]]:
    return [click.option(flag, type=kind, metavar=form, help=text) for flag, kind, form, text in rows]


def settings(flags: dict[str, Any]) -> dict[str, Any]:
    """Flags of these options as settings by dotted key; others as they are.

    Raises:
        UserError: A price or a band that cannot be read.
    """
    found = {_NAMES.get(name, name): value for name, value in flags.items()}
    for flag, table in (("price", "writer"), ("judge_price", "judge")):
        text = found.pop(flag, None)
        if text is not None:
            found |= {f"{table}.price.{name}": value for name, value in _price(flag, text).items()}
    if found.get("band") is not None:
        found["band"] = _numbers("--band", found["band"], 2, "LO:HI")
    if found.pop("fast", False):
        found["verification"] = "fast"
    if found.get("generator") is None and found.get("writer.model") is not None:
        found["generator"] = "llm"
    return found


def refuse_idle(flags: Mapping[str, Any], config: RunConfig) -> None:
    """Refuse flags that would do nothing: whoever gives a cap or an address believes that a model is asked.

    Raises:
        UserError: Names the first.
    """
    writes, judges = config.generator == "llm", config.judge.model is not None
    writer, judge = ("a model that writes", "--generator-model"), ("a model that judges", "--judge-model")
    idle: dict[str, tuple[str, str]] = {}
    if not writes:
        idle |= dict.fromkeys(("generator_model", "generator_url", "price"), writer)
    if not judges:
        idle |= dict.fromkeys(("judge_url", "judge_price", "judge_rejects"), judge)
    if config.generator == "procedural" and not judges:
        idle |= dict.fromkeys(("max_cost", "max_tokens", "max_calls", "max_minutes"), writer)
    for name, (needed, by) in idle.items():
        if flags.get(name) not in (None, False):
            flag = f"--{name.replace('_', '-')}"
            raise UserError(f"{flag} does nothing without {needed}", fix=f"give {by} MODEL, or leave {flag} out")


def _price(flag: str, text: str) -> dict[str, float]:
    names = ("prompt", "cached", "completion") if text.count(":") == 2 else ("prompt", "completion")
    values = _numbers(f"--{flag.replace('_', '-')}", text, len(names), "PROMPT:COMPLETION or PROMPT:CACHED:COMPLETION")
    return dict(zip(names, values, strict=True))


def _numbers(flag: str, text: str, count: int, form: str) -> list[float]:
    try:
        values = [float(part) for part in str(text).split(":")]
    except ValueError:
        values = []
    if len(values) != count:
        raise UserError(f"{flag} {text!r} is not of the form {form}", fix=f"give {flag} {form}")
    return values
