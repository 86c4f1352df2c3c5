"""Options that several commands share, with Harbor's letters. None is "not given" where a config file has a say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from envs_forge.config import RunConfig

F = TypeVar("F", bound=Callable[..., Any])


def chained(*options: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator out of many, in the order in which help shows them."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def pool(*, required: bool = False) -> Callable[[F], F]:
    """Which bundles: `-p -i -x -l`."""
    return chained(
        click.option(
            "-p", "--path", "paths", multiple=True, required=required, metavar="DIR",
            help="Task directory, or a directory of task directories. Repeatable.",
        ),
        click.option("-i", "--include", multiple=True, metavar="GLOB", help="Only tasks with such names. Repeatable."),
        click.option("-x", "--exclude", multiple=True, metavar="GLOB", help="No tasks with such names. Repeatable."),
        click.option("-l", "--limit", type=int, metavar="N", help="At most N tasks, the first by name."),
    )  # fmt: skip


def machine() -> Callable[[F], F]:
    """Where and how much at once: `-n --engine --no-network`."""
    return chained(
        click.option("-n", "--concurrency", type=int, metavar="N", help="Sandboxes at work at once [default: cores]."),
        click.option("--engine", type=click.Choice(["auto", "oci", "docker"]), help="Sandbox engine [default: auto]."),
        click.option("--no-network", is_flag=True, help="No sandbox gets a network, whatever its task asks for."),
    )


def policy() -> Callable[[F], F]:
    """Who is measured and how often: `--policy -m --base-url -k`."""
    return chained(
        click.option(
            "--policy", metavar="NAME",
            help="builtin[:PRESET|:FILE], terminal, oracle, nop, command:PATH or harbor:NAME [default: builtin]. "
            "With -m: terminal.",
        ),
        click.option("-m", "--model", metavar="MODEL", help="Model of the policy terminal."),
        click.option(
            "--base-url", metavar="URL",
            help="OpenAI-compatible endpoint that serves it, else OPENAI_BASE_URL. The key is OPENAI_API_KEY.",
        ),
        click.option(
            "-k", "--rollouts", "--attempts", "attempts", type=int, metavar="K",
            help="Counted rollouts on each seed [default: 4].",
        ),
    )  # fmt: skip


def adaptive(*, details: bool = False) -> Callable[[F], F]:
    """How rollouts are spent: `--adaptive`, with details `--budget --cap --delta -N` too."""
    only = (
        click.option(
            "--adaptive", is_flag=True,
            help="Instead of -k: a few rollouts on each seed, the rest where they can still change the plan.",
        ),
    )  # fmt: skip
    more = (
        click.option(
            "--budget", "rollout_budget", type=int, metavar="B",
            help="With --adaptive: rollouts of all seeds together; 4.8 for each seed where it is not given.",
        ),
        click.option("--cap", type=int, metavar="K", help="With --adaptive: most rollouts of one seed [default: 16]."),
        click.option(
            "--delta", type=float, metavar="D",
            help="With --adaptive: a seed is done when its best action's expected regret is below D [default: 0.005].",
        ),
        click.option(
            "-N", "--size", type=int, metavar="N",
            help="With --adaptive: how many environments the plan will be for [default: 100].",
        ),
    )  # fmt: skip
    return chained(*only, *(more if details else ()))


def fresh() -> Callable[[F], F]:
    """`--fresh`."""
    return click.option("--fresh", is_flag=True, help="Use no rollouts of earlier runs again.")


def recipe() -> Callable[[F], F]:
    """`--recipe`."""
    names = ["forge", "few-shot", "self-instruct", "evol-instruct"]
    return click.option("--recipe", type=click.Choice(names), help="Which actions a plan may use [default: forge].")


def config_file() -> Callable[[F], F]:
    """`-c`."""
    return click.option("-c", "--config", "file", metavar="FILE", help="TOML file with settings; flags win over it.")


def as_json() -> Callable[[F], F]:
    """`--json`."""
    return click.option("--json", "json_", is_flag=True, help="The result as JSON on stdout.")


def quiet() -> Callable[[F], F]:
    """`-q`."""
    return click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")


def settings(**given: Any) -> dict[str, Any]:
    """Flags as settings by dotted key, without those that were not given."""
    names = {
        "paths": "seeds",
        "attempts": "rollouts",
        "adaptive": "adaptive.enabled",
        "rollout_budget": "adaptive.budget",
        "cap": "adaptive.cap",
        "delta": "adaptive.delta",
        "base_url": "endpoint.base_url",
        "size": "plan.size",
        "recipe": "plan.recipe",
        "scoring": "plan.scoring",
        "tau": "plan.frontier.tau",
    }
    # By identity: a 0 is an answer, not "not given".
    found = {names.get(name, name): v for name, v in given.items() if v is not None and v is not False and v != ()}
    if found.pop("no_network", False):
        found["network"] = False
    if "transition" in found:
        from envs_forge.cli.transition import frontier_settings

        found |= frontier_settings(found.pop("transition"))
    return found


def config(file: str | None, flags: dict[str, Any], *, goal: str) -> RunConfig:
    """The config of a command: its file, its flags over it, paths made absolute.

    Raises:
        UserError: One line with everything that is wrong.
    """
    from pathlib import Path

    from envs_forge.config import load_config

    found = load_config(Path(file) if file is not None else None, {**settings(**flags), "goal": goal})
    paths = {name: tuple(str(Path(path).absolute()) for path in getattr(found, name)) for name in ("seeds", "against")}
    given = {name: getattr(found, name) for name in ("pass_rates", "planned")}
    files = {name: str(Path(path).absolute()) for name, path in given.items() if path is not None}
    return found.model_copy(update={**paths, **files, "policy": absolute_policy(found.policy)})


def absolute_policy(policy: str) -> str:
    """A policy that names a file, with its path made absolute; others as they are."""
    from pathlib import Path

    kind, _, place = policy.partition(":")
    is_file = bool(place) and (kind == "command" or (kind == "builtin" and ("/" in place or place.endswith(".json"))))
    return f"{kind}:{Path(place).absolute()}" if is_file else policy
