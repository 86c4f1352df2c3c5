"""The `oci` engine: overlayfs over an image's layers, and runc, at a tenth of what a container through dockerd costs.

`OciEngine` makes sandboxes; `probe()` raises `PrerequisiteError` where it cannot. Both are imported when they are
first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envs_forge.sandbox.oci.engine import OciEngine
    from envs_forge.sandbox.oci.probing import probe

__all__ = ["OciEngine", "probe"]


def __getattr__(name: str) -> Any:
    if name == "OciEngine":
        from envs_forge.sandbox.oci.engine import OciEngine

        return OciEngine
    if name == "probe":
        from envs_forge.sandbox.oci.probing import probe

        return probe
    raise AttributeError(name)
