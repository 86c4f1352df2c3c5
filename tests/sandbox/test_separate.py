"""A verifier in an environment of its own sees its image and the artifacts, and nothing else of the agent's."""

from __future__ import annotations

import pytest

from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import make_bundle
from envs_forge.sandbox.images.model import BuildCode, BuildFault
from envs_forge.sandbox.runtime import Prepared, Runtime
from envs_forge.sandbox.verification import Isolation, RewardFault

pytestmark = pytest.mark.engine

TOML = """\
artifacts = ["/app/out", {source = "kept", exclude = ["*.tmp", "cache"]}]
[environment]
network_mode = "no-network"
env = {ONLY_AGENT = "1"}
[verifier]
environment_mode = "separate"
env = {EXPECTED = "done"}
[[verifier.collect]]
command = "cp /app/private /logs/artifacts/collected"
[verifier.environment]
network_mode = "no-network"
workdir = "/srv"
memory_mb = 256
"""
TEST = """\
#!/bin/bash
ls -A /app /app/kept /logs/artifacts
[ "$PWD" = /srv ] && [ -z "$ONLY_AGENT" ] && [ ! -e /app/private ] && [ ! -e /tmp/agent ] || exit 1
r=0
[ "$(cat /app/out)" = "$EXPECTED" ] && [ "$(cat /logs/artifacts/collected)" = secret ] && r=1
echo $r > /logs/verifier/reward.txt
"""
FILES = {
    "task.toml": TOML,
    "instruction.md": "Write done to /app/out.\n",
    "environment/Dockerfile": "FROM debian:12.11-slim\nWORKDIR /app\nRUN echo secret > private && mkdir kept\n",
    "solution/solve.sh": "#!/bin/bash\necho done > /app/out; touch /tmp/agent\n",
    "tests/Dockerfile": "FROM debian:12.11-slim\nRUN mkdir -p /app /srv\nCOPY test.sh /tests/test.sh\n",
    "tests/test.sh": TEST,
}


def task(**changes: str) -> Bundle:
    texts = {**FILES, **{path.replace("__", "/"): text for path, text in changes.items()}}
    return make_bundle("apart", {path: BundleFile(data=t.encode(), mode=0o755) for path, t in texts.items()})


def ready(runtime: Runtime, bundle: Bundle) -> Prepared:
    prepared = runtime.prepare(bundle)
    assert isinstance(prepared, Prepared), prepared
    return prepared


def test_the_oracle_passes_and_an_idle_agent_does_not(runtime: Runtime) -> None:
    prepared = ready(runtime, task())
    assert prepared.apart is not None
    assert prepared.apart.spec.limits.memory_mb == 256
    with runtime.open(prepared) as work:
        runtime.solve(prepared, work)
        done = runtime.verify(prepared, work)
    assert (done.reward, done.isolation) == (1.0, Isolation.SEPARATE), done.output_tail
    idle = runtime.verify(prepared, None)
    assert (idle.reward, idle.fault) == (0.0, None), idle.output_tail


HACK = """\
echo wrong > /app/out
mkdir -p /tests /logs/verifier /logs/artifacts/deep
echo 1 | tee /logs/verifier/reward.txt > /tests/test.sh
ln -s /tests/test.sh /app/kept/absolute; ln -s ../../tests/test.sh /app/kept/relative
mkdir /app/kept/deep; ln -s .. /app/kept/deep/up; ln -s deep/up/../../tests /app/kept/through
ln -s deep /app/kept/inside; ln -s / /logs/artifacts/root
mkfifo /app/kept/pipe; touch /app/kept/a.tmp; mkdir /app/kept/cache; touch /app/kept/cache/x
touch /app/kept/first; ln /app/kept/first /app/kept/second; cp /bin/true /app/kept/set; chmod 4755 /app/kept/set
"""


def test_what_an_agent_plants_stays_behind(runtime: Runtime) -> None:
    look = "#!/bin/bash\nfind /app/kept /logs/artifacts -printf '%M %p\\n'\necho 0 > /logs/verifier/reward.txt\n"
    prepared = ready(runtime, task(**{"tests__test.sh": look}))
    with runtime.open(prepared) as work:
        work.exec(["/bin/bash", "-c", HACK], timeout=30)
        seen = runtime.verify(prepared, work)
    assert seen.reward == 0.0, seen.output_tail
    found = {line.split(" ", 1)[1] for line in seen.output_tail.splitlines()}
    kept = {"", "/deep", "/deep/up", "/inside", "/first", "/second", "/set"}
    assert found == {f"/app/kept{name}" for name in kept} | {
        f"/logs/artifacts{name}" for name in ("", "/deep", "/collected")
    }
    assert "-rwxr-xr-x /app/kept/set" in seen.output_tail.splitlines()


def test_what_cannot_be_carried_over_is_no_reward_and_no_crash(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envs_forge.sandbox.artifacts.MOST_BYTES", 1000)
    prepared = ready(runtime, task())
    with runtime.open(prepared) as work:
        work.exec(["/bin/bash", "-c", "head -c 2000 /dev/zero > /app/out"], timeout=30)
        assert runtime.verify(prepared, work).fault is RewardFault.MISSING


def test_a_verifier_that_cannot_be_built_is_the_bundles_fault(runtime: Runtime) -> None:
    outcome = runtime.prepare(task(**{"tests__Dockerfile": "FROM debian:12.11-slim\nRUN false\n"}))
    assert isinstance(outcome, BuildFault)
    assert outcome.code is BuildCode.FAILED
    assert outcome.message.startswith("the verifier's image: ")


@pytest.mark.parametrize(
    ("toml", "code"),
    [
        ('[environment]\nnetwork_mode = "allowlist"\nallowed_hosts = ["example.org"]\n', "allowed-hosts"),
        ('[environment.healthcheck]\ncommand = "true"\n', "healthcheck"),
    ],
)
def test_what_no_engine_gives_is_never_ignored(runtime: Runtime, toml: str, code: str) -> None:
    outcome = runtime.prepare(task(**{"task.toml": toml}))
    assert isinstance(outcome, BuildFault)
    assert (outcome.code, outcome.unsupported) == (BuildCode.UNSUPPORTED, True)
    assert f"[{code}]" in outcome.message
