"""Many small cases in one sandbox: each gets its data laid out anew, a script, and the real tests of a bundle."""

from __future__ import annotations

import io
import json
import shlex
import tarfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.sandbox.engine import Engine, Image, Limits, SandboxSpec

DRIVER = Path(__file__).with_name("arena_driver.py.in")
LIMITS = Limits(cpus=2.0, memory_mb=512, disk_mb=1024)
SANDBOXES = 2


@dataclass(frozen=True, slots=True)
class Case:
    """A bundle and what is done in it (shell code; empty: nothing).

    With `whole`, `tests/test.sh` runs as it is; otherwise its checks run without a new interpreter, which is faster.
    """

    name: str
    bundle: Bundle
    script: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the bundle's own tests said."""

    name: str
    reward: str
    failed: tuple[str, ...]
    log: str


@dataclass(frozen=True, slots=True)
class Arena:
    """Where cases run.

    Attributes:
        engine: Makes the sandboxes.
        image: The image that all procedural bundles build on.
    """

    engine: Engine
    image: Image

    def run(self, cases: Sequence[Case]) -> list[Outcome]:
        """All cases, shared out to a few sandboxes without a network."""
        shares = [cases[i::SANDBOXES] for i in range(SANDBOXES)]
        with ThreadPoolExecutor(SANDBOXES) as pool:
            found = [outcome for share in pool.map(self._run_share, shares) for outcome in share]
        by_name = {outcome.name: outcome for outcome in found}
        assert len(by_name) == len(cases), "two cases have the same name"
        return [by_name[case.name] for case in cases]

    def _run_share(self, cases: Sequence[Case]) -> list[Outcome]:
        with self.engine.create(self.image, SandboxSpec(limits=LIMITS)) as sandbox:
            sandbox.put("/arena", io.BytesIO(_payload(cases)))
            done = sandbox.exec(["python3", "-I", "-S", "/arena/driver.py"], timeout=240, output_limit=64 << 20)
        assert done.exit_code == 0, done.stderr[-2000:]
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(rows) == len(cases), done.stderr[-2000:]
        return [_outcome(cases[row[0]].name, *row[1:]) for row in rows]


def _outcome(name: str, reward: str, ctrf: str, log: str) -> Outcome:
    results = json.loads(ctrf)["results"]["tests"] if ctrf else []
    failed = tuple(test["name"] for test in results if test["status"] == "failed")
    return Outcome(name, reward.strip(), failed, log)


def _payload(cases: Sequence[Case]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        _add(tar, "driver.py", BundleFile(data=DRIVER.read_bytes()))
        for number, case in enumerate(cases):
            for path, file in _files(case).items():
                _add(tar, f"cases/{number:05d}/{path}", file)
    return buffer.getvalue()


def _files(case: Case) -> dict[str, BundleFile]:
    dockerfile = case.bundle.files["environment/Dockerfile"].data.decode()
    env = (line[4:].partition("=") for line in dockerfile.split("\n") if line.startswith("ENV "))
    asked = {
        "env": {name: shlex.split(value)[0] for name, _, value in env},
        "setup": "\n".join(dockerfile.split("\nRUN ")[2:]),
        "whole": case.whole,
    }
    found = {
        "case.json": BundleFile(data=json.dumps(asked).encode()),
        "script.sh": BundleFile(data=case.script.encode()),
    }
    parts = ("tests/", "environment/")
    files = case.bundle.files.items()
    return found | {p: f for p, f in files if p.startswith(parts) and p != "environment/Dockerfile"}


def _add(tar: tarfile.TarFile, path: str, file: BundleFile) -> None:
    info = tarfile.TarInfo(path)
    if file.target is not None:
        info.type, info.linkname = tarfile.SYMTYPE, file.target
    info.size, info.mode = len(file.data), file.mode
    tar.addfile(info, io.BytesIO(file.data))


def oracle(bundle: Bundle) -> str:
    """The bundle's own solution as a script."""
    text = bundle.files["solution/solve.sh"].data.decode()
    return f"cat >/tmp/solve.sh <<'SOLVE_SH'\n{text}SOLVE_SH\nbash /tmp/solve.sh\n"
