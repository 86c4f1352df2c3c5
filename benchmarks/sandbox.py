"""What an empty trial costs: make a sandbox, run `true`, remove it.

Four arms, interleaved in one run, on one image, under the same limits:

- `oci` and `docker`: the two engines, through the same code as every trial;
- `raw`: the plain commands that `oci` is made of, with its limits, its seccomp profile and its disk cap:
  `mount -t overlay`, `runc run true`, `umount`, `rm -r`;
- `raw_exec`: the same with what several commands in one container take:
  `runc run --detach`, `runc exec true`, `runc delete --force`.

Medians of wall time in milliseconds. Run as root on Linux: python benchmarks/sandbox.py --json
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from envs_forge.sandbox.docker.connection import connect
from envs_forge.sandbox.docker.engine import DockerEngine
from envs_forge.sandbox.engine import Engine, Image, Limits, SandboxSpec
from envs_forge.sandbox.images.local import LocalImages
from envs_forge.sandbox.oci import OciEngine
from envs_forge.sandbox.oci.layers import LayerStore
from envs_forge.sandbox.oci.reaping import remove_home
from envs_forge.sandbox.oci.slots import Slot, SlotPool
from envs_forge.sandbox.oci.spec import runc_spec
from envs_forge.sandbox.oci.state import make_home, state_root
from envs_forge.sandbox.oci.tools import tool
from envs_forge.sandbox.prerequisites import BASE_IMAGE

LIMITS = Limits()
ENV = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
NAME = "envs-forge-benchmark"


class Raw:
    """The plain commands.

    Args:
        folder: A directory for runc's state and configuration.
        slot: The disk cap, mounted before the clock starts, as the engine's is.
        layers: Directories of the image's layers, uppermost first.
    """

    def __init__(self, folder: Path, slot: Slot, layers: tuple[Path, ...]) -> None:
        self._place = slot.mount / "raw"
        self._merged = folder / "merged"
        self._merged.mkdir()
        self._bundles = {program: self._bundle(folder, program) for program in ("true", "sleep infinity")}
        self._runc = [tool("runc"), "--root", str(folder / "runc")]
        upper, work = self._place / "upper", self._place / "work"
        options = f"lowerdir={':'.join(map(str, layers))},upperdir={upper},workdir={work}"
        self._mount = ["mount", "-t", "overlay", "-o", options, "overlay", str(self._merged)]

    def run(self) -> None:
        """One container for one command."""
        with self._mounted():
            _command(*self._runc, "run", "--bundle", str(self._bundles["true"]), NAME)

    def run_and_exec(self) -> None:
        """One container for any number of commands."""
        with self._mounted():
            _command(*self._runc, "run", "--detach", "--bundle", str(self._bundles["sleep infinity"]), NAME)
            _command(*self._runc, "exec", NAME, "true")
            _command(*self._runc, "delete", "--force", NAME)

    @contextlib.contextmanager
    def _mounted(self) -> Iterator[None]:
        _command("mkdir", "-p", str(self._place / "upper"), str(self._place / "work"))
        _command(*self._mount)
        try:
            yield
        finally:
            _command("umount", str(self._merged))
            _command("rm", "-r", str(self._place))

    def _bundle(self, folder: Path, program: str) -> Path:
        bundle = folder / program.replace(" ", "-")
        bundle.mkdir()
        spec = runc_spec(str(self._merged), program.split(), "forge", LIMITS, f"/{NAME}")
        spec["process"]["env"] = ENV
        (bundle / "config.json").write_text(json.dumps(spec))
        return bundle


def trial(engine: Engine, image: Image) -> dict[str, float]:
    """One empty trial; milliseconds of its parts and of the whole."""
    began = time.perf_counter()
    sandbox = engine.create(image, SandboxSpec(limits=LIMITS))
    created = time.perf_counter()
    done = sandbox.exec(["true"], timeout=60)
    ran = time.perf_counter()
    sandbox.destroy()
    destroyed = time.perf_counter()
    if done.exit_code != 0:
        raise SystemExit(f"`true` failed on {engine.name}: {done}")
    return {
        "create": (created - began) * 1000,
        "exec": (ran - created) * 1000,
        "destroy": (destroyed - ran) * 1000,
        "whole": (destroyed - began) * 1000,
    }


def measure(image_name: str, rounds: int) -> dict[str, object]:
    """Run all arms `rounds` times, one after another in every round, after one round that does not count."""
    client = connect()
    image = LocalImages(client).find(image_name)
    if image is None:
        raise SystemExit(f"there is no image {image_name}; run `make base-image`")
    samples: dict[str, list[dict[str, float]]] = {"oci": [], "docker": [], "raw": [], "raw_exec": []}
    with (
        _raw(image.id) as raw,
        contextlib.closing(OciEngine(client)) as oci,
        contextlib.closing(DockerEngine()) as docker,
    ):
        arms: dict[str, Callable[[], dict[str, float]]] = {
            "oci": lambda: trial(oci, image),
            "raw": lambda: _timed(raw.run),
            "raw_exec": lambda: _timed(raw.run_and_exec),
            "docker": lambda: trial(docker, image),
        }
        for number in range(rounds + 1):
            for name, arm in arms.items():
                sample = arm()
                if number:
                    samples[name].append(sample)
            print(f"\rround {number} of {rounds}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        described = oci.describe()
    return _summary(samples, rounds, described)


def _summary(samples: dict[str, list[dict[str, float]]], rounds: int, described: dict[str, str]) -> dict[str, object]:
    def median(arm: str, part: str = "whole") -> float:
        return statistics.median(sample[part] for sample in samples[arm])

    whole = {f"{arm}_ms": round(median(arm), 1) for arm in samples}
    parts = {
        f"{arm}_{part}_ms": round(median(arm, part), 1)
        for arm in ("oci", "docker")
        for part in ("create", "exec", "destroy")
    }
    ratios = {
        "oci_over_raw": round(median("oci") / median("raw"), 2),
        "oci_over_raw_exec": round(median("oci") / median("raw_exec"), 2),
        "docker_over_oci": round(median("docker") / median("oci"), 1),
    }
    return {"rounds": rounds, **whole, **ratios, **parts, "in_force": described}


@contextlib.contextmanager
def _raw(image_id: str) -> Iterator[Raw]:
    home = make_home(state_root())
    pool = SlotPool(home.slots)
    slot = pool.take(LIMITS.disk_mb)
    try:
        with tempfile.TemporaryDirectory(dir=home.runtime.parent) as folder:
            layers = LayerStore(connect, state_root() / "layers").find(image_id)
            yield Raw(Path(folder), slot, layers.directories)
    finally:
        slot.discard()
        pool.close()
        remove_home(home)


def _timed(action: Callable[[], None]) -> dict[str, float]:
    began = time.perf_counter()
    action()
    return {"whole": (time.perf_counter() - began) * 1000}


def _command(*argv: str) -> None:
    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=25, help="rounds that count (default: %(default)s)")
    parser.add_argument("--image", default=BASE_IMAGE, help="local image (default: %(default)s)")
    options = parser.parse_args()
    result = measure(options.image, options.rounds)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for key, value in result.items():
            print(f"{key:20} {value}")


if __name__ == "__main__":
    main()
