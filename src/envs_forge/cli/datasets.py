"""Datasets of Harbor's registry among the tasks of a command."""

from __future__ import annotations

from envs_forge.config import RunConfig
from envs_forge.rollout.policies.harbor.datasets import fetch_dataset
from envs_forge.rollout.policies.harbor.install import find_harbor


def with_datasets(config: RunConfig, names: tuple[str, ...], registry: str | None, *, beside: bool) -> RunConfig:
    """The config with the tasks of datasets, which are downloaded where they are not yet.

    Args:
        config: What was asked for.
        names: The datasets.
        registry: URL or file of their registry. None: Harbor's own.
        beside: Whether the tasks that the config names are taken too.

    Raises:
        UserError: A dataset cannot be had.
    """
    harbor = find_harbor(config.harbor.python)
    found = [str(path) for name in names for path in fetch_dataset(name, harbor, registry=registry)]
    return config.model_copy(update={"seeds": (*(config.seeds if beside else ()), *found)})
