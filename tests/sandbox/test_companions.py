"""Tasks of several containers, on the docker engine with its compose plugin."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import make_bundle
from envs_forge.errors import EngineError
from envs_forge.sandbox import companions
from envs_forge.sandbox.cleaning import clean
from envs_forge.sandbox.docker.companions import compose_is_here
from envs_forge.sandbox.docker.connection import connect
from envs_forge.sandbox.engine import CannotStartError
from envs_forge.sandbox.images.model import BuildCode, BuildFault
from envs_forge.sandbox.runtime import Prepared, Runtime, open_runtime

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not compose_is_here(), reason="docker has no compose plugin"),
]

COMPOSE = """\
services:
  main:
    environment: {API: "http://api:8000"}
    depends_on: {api: {condition: service_healthy}}
  api:
    build: ./api
    command: python3 -m http.server 8000
    ports: ["8000:8000"]
    volumes: ["data:/data"]
    restart: always
    healthcheck:
      test: curl -sf http://localhost:8000/value
      interval: 1s
      retries: 20
volumes: {data: {}}
"""
FILES = {
    "task.toml": '[environment]\nnetwork_mode = "no-network"\n',
    "instruction.md": "Fetch $API/value into /app/out.\n",
    "environment/Dockerfile": "FROM debian:12.11-slim\nWORKDIR /app\n",
    "environment/docker-compose.yaml": COMPOSE,
    "environment/api/Dockerfile": "FROM debian:12.11-slim\nWORKDIR /srv/api\nCOPY value .\n",
    "environment/api/value": "forty-two\n",
    "solution/solve.sh": '#!/bin/bash\ncurl -sf "$API/value" > /app/out\n',
    "tests/test.sh": """\
#!/bin/bash
r=0
[ "$(curl -sf http://api:8000/value)" = "$(cat /app/out)" ] && r=1
timeout 3 bash -c '> /dev/tcp/1.1.1.1/53' 2> /dev/null && r=0.5
echo $r > /logs/verifier/reward.txt
""",
}


def task(**changes: str) -> Bundle:
    files = {**FILES, **{f"environment/{path}": text for path, text in changes.items()}}
    return make_bundle("several", {path: BundleFile(data=t.encode(), mode=0o755) for path, t in files.items()})


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    with open_runtime() as opened:
        yield opened


@pytest.fixture(scope="module")
def client() -> docker.APIClient:
    return connect()


def ready(runtime: Runtime, bundle: Bundle) -> Prepared:
    prepared = runtime.prepare(bundle)
    assert isinstance(prepared, Prepared), prepared
    return prepared


def things(client: docker.APIClient, name: str) -> tuple[int, int, int]:
    """Containers, networks and volumes that belong to a sandbox."""
    containers = client.containers(all=True, filters={"label": f"envs-forge.company={name}"})
    containers += client.containers(all=True, filters={"name": name})
    return (
        len({found["Id"] for found in containers}),
        len(client.networks(names=[name])),
        len(client.volumes(filters={"name": name})["Volumes"] or ()),
    )


def test_the_containers_reach_each_other_and_nobody_else(runtime: Runtime, client: docker.APIClient) -> None:
    prepared = ready(runtime, task())
    assert (prepared.engine, list(prepared.company), prepared.spec.env) == (
        "docker",
        ["api"],
        {"API": "http://api:8000"},
    )
    with runtime.open(prepared) as work:
        runtime.solve(prepared, work)
        assert things(client, work.id)[:2] == (2, 1)
        done = runtime.verify(prepared, work)
        name = work.id
    assert done.reward == 1.0, done.output_tail
    assert things(client, name) == (0, 0, 0)


def test_the_hosts_own_services_are_out_of_reach(runtime: Runtime) -> None:
    addresses = subprocess.check_output(["hostname", "-I"], text=True).split()
    with socket.create_server(("0.0.0.0", 0)) as server, runtime.open(ready(runtime, task())) as work:
        port = server.getsockname()[1]
        tries = [f"timeout 1 bash -c '> /dev/tcp/{address}/{port}' && echo {address}" for address in addresses]
        gateway = "$(hostname -i | cut -d' ' -f1 | sed 's/[0-9]*$/1/')"
        tries.append(f'timeout 1 bash -c "> /dev/tcp/{gateway}/{port}" && echo gateway')
        said = work.exec(["/bin/bash", "-c", "\n".join(tries)], timeout=60)
    assert said.stdout == b""


@pytest.mark.slow
def test_a_killed_process_leaves_nothing(runtime: Runtime, client: docker.APIClient) -> None:
    script = (
        "import sys, threading; from sandbox.test_companions import *\n"
        "runtime = open_runtime(); work = runtime.open(ready(runtime, task()))\n"
        "print(work.id, flush=True); threading.Event().wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]
    ) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert things(client, name)[:2] == (2, 1)
        process.kill()
    clean()
    assert things(client, name) == (0, 0, 0)


@pytest.mark.slow
def test_an_idle_agent_gets_nothing(runtime: Runtime) -> None:
    assert runtime.verify(ready(runtime, task()), None).reward == 0.0


def test_a_companion_that_does_not_run_is_the_bundles_fault_and_leaves_nothing(
    runtime: Runtime, client: docker.APIClient
) -> None:
    broken = task(**{"docker-compose.yaml": "services:\n  api:\n    build: ./api\n    command: [sh, -c, exit 3]\n"})
    prepared = ready(runtime, broken)
    before = {network["Name"] for network in client.networks(filters={"label": "envs-forge=network"})}
    with pytest.raises(CannotStartError) as caught:
        runtime.open(prepared)
    assert caught.value.code == "companion-failed"
    assert {network["Name"] for network in client.networks(filters={"label": "envs-forge=network"})} <= before


@pytest.mark.parametrize(
    ("compose", "code", "words"),
    [
        ("services: {db: {image: 'nowhere.example/db:1'}}", BuildCode.BASE_UNAVAILABLE, "the container db: "),
        ("services: {db: {image: x, privileged: true}}", BuildCode.UNSUPPORTED, "[compose-refused]"),
    ],
)
def test_what_cannot_be_had_is_unsupported(runtime: Runtime, compose: str, code: BuildCode, words: str) -> None:
    outcome = runtime.prepare(task(**{"docker-compose.yaml": compose}))
    assert isinstance(outcome, BuildFault)
    assert (outcome.code, outcome.unsupported, words in outcome.message) == (code, True, True)


def test_without_the_plugin_it_is_unsupported(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companions, "_can_start", lambda: False)
    outcome = runtime.prepare(task())
    assert isinstance(outcome, BuildFault)
    assert (outcome.code, outcome.unsupported) == (BuildCode.COMPOSE_MISSING, True)


def test_the_oci_engine_says_that_it_cannot(runtime: Runtime) -> None:
    from dataclasses import replace

    from envs_forge.sandbox.oci import OciEngine

    prepared = ready(runtime, task())
    try:
        engine = OciEngine()
    except EngineError as error:
        pytest.skip(str(error))
    with pytest.raises(EngineError, match="one container"):
        engine.create(prepared.image, replace(prepared.spec, companions=prepared.company))
    engine.close()
