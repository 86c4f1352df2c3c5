"""`RunConfig`: everything that a user may set about a run, from a TOML file and from flags (flags win)."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from envs_forge.errors import UserError
from envs_forge.models.settings import EndpointSettings, PriceSettings, Sampling
from envs_forge.plan.settings import PlanSettings

Settings = dict[str, Any]
"""Values by dotted key, e.g. `{"plan.size": 20}`."""


class CapsConfig(BaseModel):
    """The most that one sandbox gets, whatever its task asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    cpus: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Cores. None: what the task asks for."""
    memory_mb: int | None = Field(default=None, ge=6)
    """Memory in MiB. None: what the task asks for."""
    disk_mb: int | None = Field(default=None, ge=1)
    """What it may write, in MiB. None: what the task asks for."""
    pids: int = Field(default=512, ge=1)
    """Processes."""


class AgentSettings(BaseModel):
    """Limits and sampling of the policy `terminal`. All of it is part of the policy's identity."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    tools: Literal["auto", "native", "fenced"] = "auto"
    """How commands come: tool calls of the protocol, fenced blocks in the text, or what the endpoint takes."""
    turns: int = Field(default=40, ge=1)
    """Answers of the model in one rollout."""
    idle_turns: int = Field(default=3, ge=1)
    """So many answers in a row without a command end the rollout."""
    tokens: int | None = Field(default=None, ge=1)
    """Tokens of one rollout, prompts and completions of all requests together. None: no limit."""
    context_tokens: int | None = Field(default=None, ge=1)
    """Context of the model. None: the endpoint says when it is full."""
    command_timeout_s: float = Field(default=180.0, gt=0, allow_inf_nan=False)
    """Seconds of one command; then it is killed and the model is told."""
    output_chars: int = Field(default=12000, ge=100)
    """Characters of one command's output that the model is shown, the middle left out."""
    sampling: Sampling = Sampling()
    """How answers are drawn."""


class AdaptiveSettings(BaseModel):
    """Rollouts that go where they can still change the plan, instead of the same number for every seed."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    enabled: bool = False
    """Whether rollouts are spent so; then `rollouts` has no say."""
    start: int = Field(default=3, ge=1)
    """Rollouts of every seed before anything is decided."""
    cap: int = Field(default=16, ge=1)
    """Most rollouts of one seed."""
    budget: int | None = Field(default=None, ge=1)
    """Rollouts of all seeds together, the first ones among them. None: 4.8 for each seed, 60 % of 8."""
    delta: float = Field(default=0.005, ge=0, allow_inf_nan=False)
    """A seed gets no more when the expected regret of its best action, in units of F, is below this."""

    def budget_of(self, seeds: int) -> int:
        """Rollouts of so many seeds together; at least the first ones."""
        return max(self.budget or -(-seeds * 24 // 5), seeds * self.start)


class HarborSettings(BaseModel):
    """How policies `harbor:NAME` run. All but `python` and `around_s` is part of the policy's identity."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    python: str | None = None
    """A Python that has Harbor. None: `HARBOR_PYTHON` of the environment, else one made in the cache directory."""
    environment: str = "docker"
    """Where Harbor runs its trials: `docker`, `daytona`, `modal`, `e2b` or what else its `--env` takes."""
    network: bool = False
    """Give tasks a network that ask for none, in `docker`: many agents install themselves or ask their model inside."""
    options: Mapping[str, str] = {}
    """Options of the agent, as Harbor's `--agent-kwarg` takes them."""
    arguments: tuple[str, ...] = ()
    """Further arguments of `harbor trial start`. No secrets: keys belong into the environment."""
    around_s: float = Field(default=1800.0, gt=0, allow_inf_nan=False)
    """Seconds for building and setting up, beside the agent's and the tests' own; then Harbor counts as hanging."""


class AskedModel(BaseModel):
    """A model that synthesis asks: where it is, how it is asked, what it costs."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    model: str | None = None
    """Its name at the endpoint."""
    endpoint: EndpointSettings = EndpointSettings()
    """Where it is served."""
    sampling: Sampling = Sampling(temperature=0.8, max_tokens=8192)
    """How answers are drawn."""
    price: PriceSettings = PriceSettings()
    """What its tokens cost."""
    seed_tokens: int = Field(default=3000, ge=200)
    """Tokens of a prompt that the seed's files may take; longer files are cut, and the cuts marked."""
    prompt_tokens: int = Field(default=24000, ge=1000)
    """Longest prompt, by estimate; a seed whose prompt would be longer takes no part."""


class WriterSettings(AskedModel):
    """The model that writes bundles."""

    digest_summary: bool = False
    """Whether it is first asked to put into a few sentences how the rollouts on a seed failed, once for each seed."""


class JudgeSettings(AskedModel):
    """An optional model that gives an opinion on candidates which passed verification."""

    sampling: Sampling = Sampling(temperature=0.0, max_tokens=1024)
    """How answers are drawn."""
    rejects: bool = False
    """Whether its opinion can reject; otherwise it is recorded only."""


class BudgetSettings(BaseModel):
    """Caps on what synthesis spends on models, over all sessions of a run. None is no cap, 0 is nothing at all.

    Each is held against the worst case before a request is sent. Requests that were perhaps paid and never counted
    count at their worst. Rollouts of the policy are not part of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars. Needs known prices."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens, prompts and completions together."""
    calls: int | None = Field(default=None, ge=0)
    """Requests that may have been paid."""
    minutes: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Minutes from the first request of a session on, summed over sessions."""


class RunConfig(BaseModel):
    """What a run does. The same config, seeds and versions give the same run."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    goal: Literal["environments", "pass-rates"] = "environments"
    """`environments` runs the whole loop; `pass-rates` stops when the seeds are measured."""
    seeds: tuple[str, ...] = ()
    """Directories: task directories, or directories of such ones."""
    include: tuple[str, ...] = ()
    """Globs over the names of the seeds; without any, all are taken."""
    exclude: tuple[str, ...] = ()
    """Globs over the names of the seeds that are left out."""
    limit: int | None = Field(default=None, ge=1)
    """At most so many seeds, the first by name."""
    policy: str = "builtin"
    """Who attempts the seeds: `builtin`, `terminal`, `oracle`, `nop`, `command:PATH` or `harbor:NAME`."""
    model: str | None = None
    """The policy's model, for policies that have one. With one and no `policy`, that is `terminal`."""
    endpoint: EndpointSettings = EndpointSettings()
    """Where the policy's model is served."""
    agent: AgentSettings = AgentSettings()
    """Limits and sampling of the policy `terminal`."""
    harbor: HarborSettings = HarborSettings()
    """How policies `harbor:NAME` run."""
    rollouts: int = Field(default=4, ge=1)
    """Counted rollouts of the policy on each seed."""
    adaptive: AdaptiveSettings = AdaptiveSettings()
    """Fewer rollouts for the same plan."""
    count: tuple[Literal["agent-timeout", "context-exceeded", "agent-error"], ...] = ("agent-timeout",)
    """Ends of an attempt that enter n, beside those that the agent chose, with the reward of what it left."""
    fresh: bool = False
    """Whether rollouts of earlier runs are left alone instead of being used again."""
    retries: int = Field(default=2, ge=0)
    """How often something that the machine spoiled is tried again in one session."""
    generator: str = "procedural"
    """Who writes the new bundles: `procedural`, `llm`, or a name that a package adds."""
    writer: WriterSettings = WriterSettings()
    """The model of the generator `llm`."""
    judge: JudgeSettings = JudgeSettings()
    """The model that judges candidates; without one there is no judge."""
    repairs: int = Field(default=2, ge=0)
    """How often a rejected draw goes back to a generator that can repair, before a fresh one is drawn."""
    budget: BudgetSettings = BudgetSettings()
    """Caps on what synthesis spends on models."""
    in_flight: int | None = Field(default=None, ge=1)
    """Places worked on at once. None: 16 where a model writes, else as many as sandboxes."""
    audit: bool | None = None
    """Whether candidates are held against the action before verification. None: where a model writes."""
    against: tuple[str, ...] = ()
    """Evaluation sets that no candidate may resemble: task directories, directories of such ones, JSONL files."""
    canaries: tuple[str, ...] = ()
    """Strings that mark evaluation data; none may occur in a candidate."""
    remeasure: int = Field(default=0, ge=0)
    """Rollouts of the policy on each verified candidate, to set what was predicted beside what is."""
    band: tuple[float, float] | None = None
    """Least and greatest measured pass rate of an accepted environment. Needs `remeasure`."""
    pass_rates: str | None = None
    """Measured pass rates to start from, instead of rollouts: a run, a file or a Harbor job directory."""
    planned: str | None = None
    """A plan to start from: a `plan.json`, or a run that has one."""
    verification: Literal["full", "fast"] = "full"
    """How candidates are verified: `full` runs every stage, `fast` those up to the oracle, as `verify --fast` does."""
    draws: int = Field(default=3, ge=1)
    """Fresh tries at a place of the plan before its candidate gives the place up."""
    seed: int = 0
    """Number that all randomness of the run starts from."""
    engine: Literal["auto", "oci", "docker"] = "auto"
    """Sandbox engine. `auto` takes `oci` where it works, else `docker`."""
    network: bool = True
    """Whether a bundle that asks for a network gets one."""
    caps: CapsConfig = CapsConfig()
    """Upper bounds on what sandboxes get."""
    base_images: Mapping[str, str] = {}
    """Local images that stand in for images named by Dockerfiles, beside the table of the installation."""
    registry: Literal["first", "last", "never"] = "first"
    """When registries are asked for base images: before stand-ins are used, only where there is none, or never."""
    plan: PlanSettings = PlanSettings()
    """The decision problem: N, recipe, quotas, frontier, solver."""
    concurrency: int | None = Field(default=None, ge=1)
    """Sandboxes at work at once. None: one for each core, more where the policy waits for an endpoint."""
    cores: int | None = Field(default=None, ge=1)
    """Sandboxes started or tested at once, however many are at work. None: the cores of this machine."""
    memory_mb: int | None = Field(default=None, ge=1)
    """Memory of all sandboxes at work together, in MiB. None: four fifths of what is free at the start."""
    allow_short: bool = False
    """Whether a run that cannot reach N exports what it has."""

    @field_validator("plan")
    @classmethod
    def _wants_something(cls, plan: PlanSettings) -> PlanSettings:
        if plan.size < 1:
            raise ValueError(f"size must be at least 1, not {plan.size}")
        return plan

    @field_validator("band")
    @classmethod
    def _rising(cls, band: tuple[float, float] | None) -> tuple[float, float] | None:
        if band is not None and not 0 <= band[0] <= band[1] <= 1:
            raise ValueError(f"band must be LOW:HIGH within 0 and 1, not {band[0]:g}:{band[1]:g}")
        return band


def _keys(prefix: str, model: type[BaseModel]) -> set[str]:
    return {f"{prefix}.{name}" for name in model.model_fields}


OPERATIONAL = frozenset(
    {
        "concurrency",
        "cores",
        "memory_mb",
        "fresh",
        "in_flight",
        "allow_short",
        *_keys("endpoint", EndpointSettings),
        *_keys("budget", BudgetSettings),
        *_keys("writer.endpoint", EndpointSettings),
        *_keys("writer.price", PriceSettings),
        *_keys("judge.endpoint", EndpointSettings),
        *_keys("judge.price", PriceSettings),
    }
)
"""Keys that change how a run proceeds but not what it makes: `resume` takes new values for them."""


def load_config(file: Path | None, flags: Settings) -> RunConfig:
    """The config of a file with flags laid over it.

    Args:
        file: A TOML file, or None.
        flags: Values by dotted key; None values count as not given.

    Raises:
        UserError: One line that names the file and every key that is wrong.
    """
    table = merge(read_toml(file) if file is not None else {}, flags)
    if table.get("model") is not None:
        table.setdefault("policy", "terminal")
    writer = table.get("writer")
    if isinstance(writer, dict) and writer.get("model") is not None:
        table.setdefault("generator", "llm")
    if "seed" in table and isinstance(table.setdefault("plan", {}), dict):
        table["plan"].setdefault("seed", table["seed"])
    return make_config(table, where=str(file) if file is not None else "the command line")


def read_toml(file: Path) -> dict[str, Any]:
    """A TOML file as a table.

    Raises:
        UserError: It cannot be read or is no TOML.
    """
    try:
        return tomllib.loads(file.read_text("utf-8-sig"))
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{file} is not valid TOML: {error}") from error


def merge(table: Mapping[str, Any], flags: Settings) -> dict[str, Any]:
    """Lay flags (dotted keys) over a nested table. None is "not given"."""
    result: dict[str, Any] = _copy(table)
    for key, value in flags.items():
        if value is None:
            continue
        *parents, last = key.split(".")
        place = result
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise UserError(f"{parent} must be a table", fix=f"write [{parent}] and the keys below it")
        place[last] = value
    return result


def make_config(table: Mapping[str, Any], *, where: str) -> RunConfig:
    """Validate a nested table.

    Raises:
        UserError: One line with all findings; an unknown key comes with the nearest known one.
    """
    try:
        return RunConfig.model_validate(table)
    except ValidationError as error:
        faults = "; ".join(dict.fromkeys(_fault(item) for item in error.errors(include_url=False)))
        raise UserError(f"{where}: {faults}") from error


def known_keys(model: type[BaseModel] = RunConfig, prefix: str = "") -> list[str]:
    """All dotted keys that a config may have."""
    keys = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            keys += known_keys(inner, f"{prefix}{name}.")
        else:
            keys.append(prefix + name)
    return keys


def flatten(value: Mapping[str, Any], prefix: str = "") -> Settings:
    """A nested table by dotted keys; an empty table leaves no trace."""
    flat: Settings = {}
    for key, item in value.items():
        if isinstance(item, Mapping):
            flat |= flatten(item, f"{prefix}{key}.")
        else:
            flat[prefix + key] = item
    return flat


def differing_keys(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Dotted keys at which two nested JSON tables differ, sorted."""
    left, right = flatten(one), flatten(other)
    return sorted(key for key in left.keys() | right.keys() if left.get(key, _MISSING) != right.get(key, _MISSING))


_MISSING = object()


def _fault(error: Any) -> str:
    key = ".".join(str(part) for part in error["loc"] if "[" not in str(part))
    if error["type"] == "extra_forbidden":
        return f"unknown key {key!r}{_nearest(key)}"
    message = error["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:].replace("tuple", "list").replace("dictionary", "table")
    return f"{key}: {message}" if key else message


def _nearest(key: str) -> str:
    keys = known_keys()
    by_last: dict[str, str] = {}
    for known in keys:
        by_last.setdefault(known.rsplit(".", 1)[-1], known)
    own = key.rsplit(".", 1)[-1]
    found = (
        ([by_last[own]] if own in by_last else [])  # right name, wrong table
        or difflib.get_close_matches(key, keys, 1, 0.75)
        or [by_last[last] for last in difflib.get_close_matches(own, list(by_last), 1, 0.5)]
    )
    return f", did you mean {found[0]!r}?" if found else ""


def _copy(value: Any) -> Any:
    return {key: _copy(item) for key, item in value.items()} if isinstance(value, Mapping) else value
