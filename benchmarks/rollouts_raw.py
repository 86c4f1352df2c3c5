"""The limit of a rollout: the plain commands that it comes down to, as a careful script runs them.

Two containers a rollout, as many as Envs-FORGE starts: what the policy types, over the image; the tests, over what it
left and without its processes. The commands, limits, seccomp profile and disk cap are those of `gold_raw.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from envs_forge.bundle.model import BundleFile
from envs_forge.rollout.policies.builtin.policy import BuiltinPolicy, script_of
from envs_forge.sandbox.runtime import Prepared
from gold_raw import Raw, _command

SCRIPT = "solution/solve.sh"


class RawRollouts(Raw):
    """Runs rollouts with plain commands; `solution/solve.sh` of each prepared bundle is what the policy types."""

    def _bundle(self, prepared: Prepared) -> None:
        number, slot = self._free.get()
        try:
            self._rewards(prepared, f"envs-forge-raw-{number}", slot.mount / f"raw-{number}")
        finally:
            self._free.put((number, slot))

    def _rewards(self, prepared: Prepared, name: str, place: Path) -> list[str]:
        scripts, lowers = self._folder / prepared.bundle.id, self._lowers[prepared.bundle.id]
        with self._mounted(name, place / "a", lowers) as root:
            _command("cp", "-r", str(scripts / "solution"), str(root))
            self._runc(prepared, name, root, f"/{SCRIPT}")
        with self._mounted(name, place / "b", f"{place}/a/upper:{lowers}") as root:
            reward = self._tests(prepared, name, root, scripts)
        _command("rm", "-r", str(place))
        return [reward]


def as_typed(prepared: Prepared, policy: BuiltinPolicy, seeds: Sequence[int]) -> list[Prepared]:
    """A bundle once for each rollout, with what the policy would type in the place of its solution."""
    found = []
    for number, seed in enumerate(seeds):
        jobs, _, _ = policy.read(prepared.bundle.instruction, seed)
        script = "#!/bin/bash\n" + script_of([job.command() for job in jobs], "--raw--")
        files = {**prepared.bundle.files, SCRIPT: BundleFile(data=script.encode(), mode=0o755)}
        bundle = prepared.bundle.model_copy(update={"id": f"{prepared.bundle.id}-{number}", "files": files})
        found.append(replace(prepared, bundle=bundle))
    return found
