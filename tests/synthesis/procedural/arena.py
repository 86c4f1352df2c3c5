"""Many small cases in one container: each gets its data laid out anew, a script, and the real tests of a bundle."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass

from envs_forge.bundle.model import Bundle, BundleFile

IMAGE = "envs-forge/base:1"
REPORT = """
import json, sys
def read(path):
    try:
        return open(path, errors="replace").read()
    except OSError:
        return ""
case = sys.argv[1]
log = read("/tmp/tests.log")[-2000:] + "--- script ---\\n" + read(f"/arena/{case}/log")[-2000:]
print(json.dumps([case, read("/logs/verifier/reward.txt"), read("/logs/verifier/ctrf.json"), log]))
"""
DRIVER = """
cd /arena
for case in *; do
    cd /
    rm -rf /app /tests /logs /opt; mkdir -p /app /opt /logs/verifier
    cd /arena/"$case"
    for part in */; do case "$part" in data/) cp -a data/. /app/;; tests/) ;; *) cp -a "${part%/}" /opt/;; esac; done
    . ./env.sh
    cd /app
    sh -e /arena/"$case"/setup.sh >/arena/"$case"/log 2>&1
    bash /arena/"$case"/script.sh >>/arena/"$case"/log 2>&1 </dev/null
    cp -a /arena/"$case"/tests /tests
    sh /tests/test.sh >/tmp/tests.log 2>&1
    python3 -I -S -c "$REPORT" "$case"
done
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A bundle and what is done in it (shell code; empty: nothing)."""

    name: str
    bundle: Bundle
    script: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the bundle's own tests said."""

    name: str
    reward: str
    failed: tuple[str, ...]
    log: str


def run_cases(cases: Sequence[Case]) -> list[Outcome]:
    """All cases, one after the other, in one container without a network."""
    command = ["docker", "run", "--rm", "-i", "--network", "none", "--init", IMAGE]
    command += ["env", f"REPORT={REPORT}", "bash", "-c", f"tar -x -C / && {{ {DRIVER} }}"]
    done = subprocess.run(command, input=_payload(cases), capture_output=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = [_outcome(cases[int(row[0])].name, *row[1:]) for row in map(json.loads, done.stdout.splitlines())]
    assert len(outcomes) == len(cases), done.stderr[-2000:]
    return outcomes


def _outcome(name: str, reward: str, ctrf: str, log: str) -> Outcome:
    results = json.loads(ctrf)["results"]["tests"] if ctrf else []
    failed = tuple(test["name"] for test in results if test["status"] == "failed")
    return Outcome(name, reward.strip(), failed, log)


def _payload(cases: Sequence[Case]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for number, case in enumerate(cases):
            for path, file in _files(case).items():
                _add(tar, f"arena/{number:05d}/{path}", file)
    return buffer.getvalue()


def _files(case: Case) -> dict[str, BundleFile]:
    dockerfile = case.bundle.files["environment/Dockerfile"].data.decode()
    setup = [part for part in dockerfile.split("\nRUN ")[2:]]
    env = "".join(f"export {line[4:]}\n" for line in dockerfile.split("\n") if line.startswith("ENV "))
    found = {
        "script.sh": BundleFile(data=case.script.encode()),
        "setup.sh": BundleFile(data="\n".join(setup).encode()),
        "env.sh": BundleFile(data=env.encode()),
    }
    for path, file in case.bundle.files.items():
        if path.startswith("tests/"):
            found[path] = file
        if path.startswith("environment/") and path != "environment/Dockerfile":
            found[path.removeprefix("environment/")] = file
    return found


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
