"""On what a verdict was reached: versions, and what the engine says of itself."""

from __future__ import annotations

import platform
from collections.abc import Mapping

from envs_forge import __version__
from envs_forge.sandbox.runtime import Prepared, Runtime


def describe(runtime: Runtime, prepared: Prepared | None) -> Mapping[str, str]:
    """Versions of this program, Python and the system, and what is in force in a bundle's sandboxes."""
    return {
        "envs-forge": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        **runtime.describe(prepared),
    }
