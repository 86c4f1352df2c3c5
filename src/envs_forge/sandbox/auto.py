"""Chooses the engine: `oci` where its probe passes, else `docker`; bundles with a network run on `docker`."""

from __future__ import annotations

from envs_forge.sandbox.engine import Engine


def make_engine(name: str = "auto") -> Engine:
    """Make the engine called `name`.

    Args:
        name: `auto`, `oci` or `docker`. With `auto` and `oci`, sandboxes whose spec asks for a network are
            made by the docker engine.

    Raises:
        UserError: There is no such engine.
        PrerequisiteError: The engine cannot run here; the message says why and what to do.
    """
    raise NotImplementedError
