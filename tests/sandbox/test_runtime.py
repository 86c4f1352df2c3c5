from collections.abc import Iterator

import pytest

from envs_forge.bundle.model import BundleFile, TaskConfig
from envs_forge.errors import PrerequisiteError
from envs_forge.sandbox.images.model import BuildCode, BuildFault
from envs_forge.sandbox.runtime import Caps, Prepared, Runtime, lacks_network, open_runtime
from envs_forge.sandbox.verification import Isolation

from .bundles import bundle, task

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module", params=["docker", "oci"])
def runtime(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    try:
        opened = open_runtime(request.param, caps=Caps(cpus=1, memory_mb=256, disk_mb=64))
    except PrerequisiteError as error:
        pytest.skip(str(error))
    with opened:
        yield opened


def prepared(runtime: Runtime, *args, **kwargs) -> Prepared:
    made = runtime.prepare(*args, **kwargs)
    assert isinstance(made, Prepared), made
    return made


ROUND_TRIP = task(
    "#!/bin/bash\n[ \"$(cat made 2>/dev/null)\" = 'by the oracle' ]; echo $((1 - $?)) >/logs/verifier/reward.txt\n",
    "#!/bin/bash\npwd; echo $DEBIAN_FRONTEND $WORD; cat /solution/text > made; touch /logs/agent/x\n",
    env={"WORD": "of the task"},
)
ROUND_TRIP = ROUND_TRIP.model_copy(
    update={"files": {**ROUND_TRIP.files, "solution/text": BundleFile(data=b"by the oracle")}}
)


@pytest.mark.parametrize("isolation", Isolation)
def test_the_round_trip(runtime: Runtime, isolation: Isolation) -> None:
    ready = prepared(runtime, ROUND_TRIP)
    assert ready.image.workdir == "/app"
    assert ready.substitutions.keys() <= {"debian:12.11-slim"}
    with runtime.open(ready) as work:
        assert runtime.verify(ready, work, isolation=isolation).reward == 0.0
    with runtime.open(ready, env={"MORE": "x"}) as work:
        assert work.exec(["sh", "-c", "echo $WORD $MORE; ls /logs"], timeout=20).stdout.split() == (
            [b"of", b"the", b"task", b"x", b"agent", b"artifacts", b"verifier"]
        )
        solved = runtime.solve(ready, work)
        assert (solved.exit_code, solved.stdout) == (0, b"/app\nnoninteractive of the task\n")
        assert runtime.verify(ready, work, isolation=isolation).reward == 1.0


def test_an_oracle_that_takes_too_long(runtime: Runtime) -> None:
    slow = prepared(runtime, task(solve="sleep 30\n"))
    with runtime.open(slow) as work:
        assert runtime.solve(slow, work, timeout=0.5).timed_out


def test_caps_hold_and_smaller_wishes_too(runtime: Runtime) -> None:
    limits = prepared(runtime, task(cpus=8.0, memory_mb=9999, storage_mb=32)).spec.limits
    assert (limits.cpus, limits.memory_mb, limits.disk_mb) == (1, 256, 32)


def test_users_and_directory_of_the_task(runtime: Runtime) -> None:
    config = TaskConfig(agent_user="nobody", verifier_user="daemon")
    who = "id -un\n"
    tested = bundle(files={"tests/test.sh": who, "solution/solve.sh": who}, config=config, workdir="/usr/lib")
    ready = prepared(runtime, tested)
    with runtime.open(ready) as work:
        assert work.exec(["sh", "-c", "id -un; pwd"], timeout=20).stdout == b"nobody\n/usr/lib\n"
        assert runtime.solve(ready, work).stdout == b"nobody\n"
        assert runtime.verify(ready, work).output_tail == "daemon\n"


def test_tests_run_as_the_images_user_where_only_the_agents_is_set(runtime: Runtime) -> None:
    tested = bundle(files={"tests/test.sh": "id -un\n"}, config=TaskConfig(agent_user="nobody"))
    ready = prepared(runtime, tested)
    with runtime.open(ready) as work:
        assert runtime.verify(ready, work).output_tail == "root\n"


def test_a_bundle_with_a_network_runs_on_docker(runtime: Runtime) -> None:
    ready = prepared(runtime, task("cat /proc/net/dev | tail -n +3 | wc -l\n", network=True))
    assert (ready.engine, ready.spec.network, ready.network_withheld) == ("docker", True, False)
    with runtime.open(ready) as work:
        assert int(runtime.verify(ready, work).output_tail) > 1


def test_the_tests_may_have_a_network_that_the_agent_has_not(runtime: Runtime) -> None:
    count = "tail -n +3 /proc/net/dev | wc -l\n"
    tested = bundle(files={"tests/test.sh": count}, config=TaskConfig(verifier_network=True))
    ready = prepared(runtime, tested)
    with runtime.open(ready) as work:
        assert work.exec(["sh", "-c", count], timeout=20).stdout == b"1\n"
        assert int(runtime.verify(ready, work).output_tail) > 1


def test_a_network_that_is_withheld_shows_in_what_fails_for_want_of_it(runtime: Runtime) -> None:
    closed = Runtime(runtime.engine, caps=Caps(network=False))
    ready = prepared(closed, task("curl -sS http://example.invalid\n", network=True))
    assert (ready.engine, ready.spec.network, ready.network_withheld) == (runtime.engine.name, False, True)
    with closed.open(ready) as work:
        tail = closed.verify(ready, work).output_tail
    assert lacks_network(ready, tail)
    assert not lacks_network(ready, "AssertionError")
    assert not lacks_network(prepared(closed, task()), tail)


def test_a_broken_build_is_data(runtime: Runtime) -> None:
    outcome = runtime.prepare(bundle("FROM debian:12.11-slim\nRUN echo why it failed; false\n"))
    assert isinstance(outcome, BuildFault)
    assert outcome.code is BuildCode.FAILED
    assert "why it failed" in outcome.log_tail
