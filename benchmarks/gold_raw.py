"""The limit: the plain commands that verifying `untouched` and `oracle` comes down to, as a careful script runs them.

Three containers a bundle, as many as Envs-FORGE starts: the tests over the image; the solution over the image; the
tests over what the solution left, without its processes. Each is `mkdir`, `mount -t overlay`, `cp -r` of the scripts,
`runc run`, `cat` of the reward, `umount`, `rm -r`, with Envs-FORGE's limits, its seccomp profile, and its disk cap: the
upper layers lie in a capped file system, which is mounted before the clock starts, as the engine's is.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from envs_forge.bundle.model import Bundle
from envs_forge.sandbox.docker.connection import connect
from envs_forge.sandbox.oci.layers import LayerStore
from envs_forge.sandbox.oci.reaping import remove_home
from envs_forge.sandbox.oci.slots import Slot, SlotPool
from envs_forge.sandbox.oci.spec import runc_spec
from envs_forge.sandbox.oci.state import make_home, state_root
from envs_forge.sandbox.oci.tools import tool
from envs_forge.sandbox.runtime import Prepared
from envs_forge.sandbox.scripts import launch

ENV = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"]
REWARD = "logs/verifier/reward.txt"


class Raw:
    """Runs bundles with plain commands.

    Args:
        folder: A directory for configuration, mount points and the bundles' scripts; not on overlayfs.
        slots: Mounted disk caps, one for each bundle that runs at once.
    """

    def __init__(self, folder: Path, slots: list[Slot]) -> None:
        self._folder = folder
        self._layers = LayerStore(connect, state_root() / "layers")
        self._free: SimpleQueue[tuple[int, Slot]] = SimpleQueue()
        for place in enumerate(slots):
            self._free.put(place)
        self._lowers: dict[str, str] = {}

    def prepare(self, prepared: Prepared) -> None:
        """Before the clock starts: put scripts where they can be copied from, and find the layers of the image."""
        directories = self._layers.find(prepared.image.id).directories
        self._lowers[prepared.bundle.id] = ":".join(map(str, directories))
        write_scripts(prepared.bundle, self._folder / prepared.bundle.id)

    def run(self, prepared: list[Prepared], concurrency: int) -> None:
        """Run all bundles.

        Raises:
            RuntimeError: A bundle did not get the rewards that it must get.
        """
        with ThreadPoolExecutor(concurrency) as threads:
            for _ in threads.map(self._bundle, prepared):
                pass

    def _bundle(self, prepared: Prepared) -> None:
        number, slot = self._free.get()
        try:
            rewards = self._rewards(prepared, f"envs-forge-raw-{number}", slot.mount / f"raw-{number}")
        finally:
            self._free.put((number, slot))
        if rewards != ["0", "1"]:
            raise RuntimeError(f"{prepared.bundle.id} got the rewards {rewards}")

    def _rewards(self, prepared: Prepared, name: str, place: Path) -> list[str]:
        scripts, lowers = self._folder / prepared.bundle.id, self._lowers[prepared.bundle.id]
        with self._mounted(name, place / "a", lowers) as root:
            untouched = self._tests(prepared, name, root, scripts)
        with self._mounted(name, place / "b", lowers) as root:
            _command("cp", "-r", str(scripts / "solution"), str(root))
            self._runc(prepared, name, root, "/solution/solve.sh")
        with self._mounted(name, place / "c", f"{place}/b/upper:{lowers}") as root:
            solved = self._tests(prepared, name, root, scripts)
        _command("rm", "-r", str(place))
        return [untouched, solved]

    def _tests(self, prepared: Prepared, name: str, root: Path, scripts: Path) -> str:
        _command("cp", "-r", str(scripts / "tests"), str(root))
        self._runc(prepared, name, root, "/tests/test.sh")
        return subprocess.run(["cat", str(root / REWARD)], capture_output=True, text=True, check=True).stdout.strip()

    @contextlib.contextmanager
    def _mounted(self, name: str, place: Path, lowers: str) -> Iterator[Path]:
        root = self._folder / name / "root"
        _command("mkdir", "-p", str(place / "upper"), str(place / "work"), str(root))
        options = f"lowerdir={lowers},upperdir={place}/upper,workdir={place}/work"
        _command("mount", "-t", "overlay", "-o", options, "overlay", str(root))
        try:
            yield root
        finally:
            _command("umount", str(root))

    def _runc(self, prepared: Prepared, name: str, root: Path, script: str) -> None:
        argv = launch(script, prepared.image.workdir)
        spec = runc_spec(str(root), argv, "forge", prepared.spec.limits, f"/{name}")
        spec["process"]["env"] = ENV
        (root.parent / "config.json").write_text(json.dumps(spec))
        runc = [tool("runc"), "--root", str(self._folder / "runc"), "run", "--bundle", str(root.parent), name]
        nothing = subprocess.DEVNULL
        subprocess.run(runc, stdin=nothing, stdout=nothing, stderr=nothing, check=False)


@contextlib.contextmanager
def opened(disk_mb: int, concurrency: int, kind: type[Raw] = Raw) -> Iterator[Raw]:
    """The raw arm, or one of another kind, with as many disk caps as bundles run at once."""
    home = make_home(state_root())
    pool = SlotPool(home.slots)
    slots = [pool.take(disk_mb) for _ in range(concurrency)]
    try:
        with tempfile.TemporaryDirectory(dir=home.runtime.parent) as folder:
            yield kind(Path(folder), slots)
    finally:
        for slot in slots:
            slot.discard()
        pool.close()
        remove_home(home)


def write_scripts(bundle: Bundle, folder: Path) -> None:
    """The files of `solution/` and `tests/` as they are copied into a sandbox."""
    for path, file in bundle.files.items():
        if path.startswith(("solution/", "tests/")):
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.data)
            place.chmod(file.mode)


def _command(*argv: str) -> None:
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
