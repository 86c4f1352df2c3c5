import pytest

from envs_forge.bundle.model import Bundle, BundleFile, TaskConfig
from envs_forge.sandbox.engine import Engine, Image, Sandbox, SandboxSpec
from envs_forge.sandbox.images.store import ImageStore
from envs_forge.sandbox.reward import read_reward
from envs_forge.sandbox.verification import Isolation, RewardFault, Verification
from envs_forge.sandbox.verifier import verify

from .bundles import PASSES, bundle, task
from .conftest import SMALL, built

pytestmark = pytest.mark.engine
SPEC = SandboxSpec(limits=SMALL)
REWARD = "/logs/verifier/reward.txt"


def after(engine: Engine, image: Image, hack: str, tested: Bundle, **how) -> Verification:
    """Verify what `hack`, run as root, left behind."""
    with engine.create(image, SPEC) as work:
        work.exec(["/bin/bash", "-c", hack], timeout=30, user="0:0")
        return verify(engine, tested, work, spec=SPEC, **how)


def test_a_reward_comes_with_everything_that_was_seen(engine: Engine, plain: Image) -> None:
    script = "pwd; echo $FROM_TASK; echo err >&2; cat /left; echo 0.5 > /logs/verifier/reward.txt; exit 9\n"
    tested = task(script).model_copy(update={"config": TaskConfig(verifier_env={"FROM_TASK": "${NONE:-yes}"})})
    found = after(engine, plain, "echo work > /left", tested, workdir="/usr")
    assert (found.reward, found.fault, found.exit_code, found.isolation) == (0.5, None, 9, Isolation.FRESH)
    assert found.output_tail == "/usr\nyes\nerr\nwork\n"
    assert found.duration_s > 0


SCRIPTS = {
    "no shebang": "[[ -n $BASH_VERSION ]] && echo 1 > " + REWARD,
    "python": f"#!/usr/bin/env python3\nopen('{REWARD}', 'w').write('1')\n",
    "a shebang with an argument": f"#!/bin/bash -e\necho 1 > {REWARD}\n",
    "json": "echo '{\"reward\": 1}' > /logs/verifier/reward.json",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_scripts_run_as_harbor_runs_them(engine: Engine, plain: Image, script: str) -> None:
    tested = bundle(files={"tests/test.sh": BundleFile(data=script.encode(), mode=0o600)})
    assert after(engine, plain, "true", tested).reward == 1.0


def test_a_crlf_shebang_fails_as_it_does_there(engine: Engine, plain: Image) -> None:
    assert after(engine, plain, "true", task(PASSES.replace("\n", "\r\n"))).fault is RewardFault.MISSING


def test_a_linked_script_and_files_beside_it(engine: Engine, plain: Image) -> None:
    files = {
        "tests/test.sh": BundleFile(target="real/run me.sh"),
        "tests/real/run me.sh": BundleFile(data=b"cat /tests/data > /logs/verifier/reward.txt\n", mode=0o644),
        "tests/data": b"1",
    }
    assert after(engine, plain, "true", bundle(files=files)).reward == 1.0


def test_without_bash_the_shell_runs_it(engine: Engine, plain: Image) -> None:
    found = after(engine, plain, "rm /bin/bash", task("echo 1 > /logs/verifier/reward.txt\n"))
    assert found.reward == 1.0


FAULTS = {
    "true": RewardFault.MISSING,
    f"touch {REWARD}": RewardFault.EMPTY,
    f"echo pass > {REWARD}": RewardFault.UNPARSABLE,
    f"echo nan > {REWARD}": RewardFault.NOT_FINITE,
    f"echo 2 > {REWARD}": RewardFault.OUT_OF_RANGE,
    f"echo 1 > {REWARD}; echo '{{\"reward\": 0}}' > /logs/verifier/reward.json": RewardFault.CONFLICT,
    f"echo 1 > /tmp/r; ln -s /tmp/r {REWARD}": RewardFault.NOT_A_FILE,
    f"mkdir {REWARD}": RewardFault.NOT_A_FILE,
    f"mkfifo {REWARD}": RewardFault.NOT_A_FILE,
    f"head -c 20M /dev/zero > {REWARD}": RewardFault.TOO_LARGE,
}


def test_whatever_else_the_tests_leave_is_a_fault(sandbox: Sandbox) -> None:
    for script, fault in FAULTS.items():
        clear = "rm -rf /logs/verifier; mkdir -p /logs/verifier"
        sandbox.exec(["/bin/bash", "-c", f"{clear}; {script}"], timeout=30)
        assert read_reward(sandbox) is fault, script


def test_a_fault_is_in_the_verification(engine: Engine, plain: Image) -> None:
    found = after(engine, plain, "true", task(f"echo pass > {REWARD}\n"))
    assert (found.reward, found.fault) == (None, RewardFault.UNPARSABLE)


@pytest.mark.parametrize("isolation", Isolation)
def test_a_time_out_is_a_fault_whatever_was_written(engine: Engine, plain: Image, isolation: Isolation) -> None:
    slow = task(f"echo 1 > {REWARD}; echo said; sleep 60\n")
    found = after(engine, plain, "true", slow, timeout=3, isolation=isolation)
    assert (found.reward, found.fault, found.exit_code) == (None, RewardFault.TIMEOUT, None)
    assert found.output_tail == "said\n"


def test_much_output_before_the_summary(engine: Engine, plain: Image) -> None:
    found = after(engine, plain, "true", task(f"head -c 5000000 /dev/zero; echo summary; echo 1 > {REWARD}\n"))
    assert found.reward == 1.0
    assert found.output_tail.endswith("summary\n")


HACKS = {
    "a planted reward": f"mkdir -p /logs/verifier; echo 1 > {REWARD}",
    "a planted directory": f"mkdir -p {REWARD}",
    "a linked directory": "mkdir -p /logs /mine; echo 1 > /mine/reward.txt; ln -s /mine /logs/verifier",
    "a linked parent": "rm -rf /logs; mkdir -p /mine/verifier; echo 1 > /mine/verifier/reward.txt; ln -s /mine /logs",
    "a file for a directory": "rm -rf /logs; echo 1 > /logs",
    "a process that writes later": f"mkdir -p /logs/verifier; (while :; do echo 1 > {REWARD}; done) >/dev/null 2>&1 &",
    "planted tests": "mkdir /tests; echo 'echo 1 > /logs/verifier/reward.txt' > /tests/test.sh; chmod -w /tests",
    "linked tests": "mkdir /mine; ln -s /mine /tests",
    "a planted json": "mkdir -p /logs/verifier; echo '{\"reward\": 1}' > /logs/verifier/reward.json",
}


@pytest.mark.parametrize("hack", HACKS.values(), ids=HACKS.keys())
def test_in_a_fresh_sandbox_nothing_that_was_planted_counts(engine: Engine, plain: Image, hack: str) -> None:
    found = after(engine, plain, hack, task("ls -A /logs/verifier /tests\n"))
    assert found.fault is RewardFault.MISSING
    assert found.output_tail == "/logs/verifier:\n\n/tests:\ntest.sh\n"


def test_live_tests_see_what_is_running_and_no_stale_reward(engine: Engine, plain: Image) -> None:
    service = f"nohup sleep 777 >/dev/null 2>&1 & mkdir -p /logs/verifier /tests; echo 1 > {REWARD}; touch /tests/old"
    look = "pgrep -f 'sleep 777' && ls /tests && ls -A /logs/verifier"
    found = after(engine, plain, service, task(f"{look}; echo 0.25 > {REWARD}\n"), isolation=Isolation.LIVE)
    assert (found.reward, found.isolation) == (0.25, Isolation.LIVE)
    assert found.output_tail.split()[1:] == ["test.sh"]
    stale = after(engine, plain, service, task("true\n"), isolation=Isolation.LIVE)
    assert stale.fault is RewardFault.MISSING


def test_live_tests_do_not_start_where_the_traces_cannot_be_cleared(engine: Engine, plain: Image) -> None:
    broken = f"mkdir -p /logs/verifier; echo 1 > {REWARD}; cp /bin/true /bin/rm"
    found = after(engine, plain, broken, task(PASSES), isolation=Isolation.LIVE)
    assert found.fault is RewardFault.MISSING
    assert "cannot be cleared" in found.output_tail


def test_a_wrecked_filesystem_is_no_failure_of_the_machine(engine: Engine, plain: Image) -> None:
    wreck = "rm -rf --no-preserve-root / 2>/dev/null"
    assert after(engine, plain, wreck, task(PASSES), isolation=Isolation.LIVE).fault is RewardFault.MISSING
    fresh = after(engine, plain, wreck, task(f"ls /srv && exit; echo 0.5 > {REWARD}\n"))
    assert fresh.fault is RewardFault.MISSING or (fresh.reward, "/usr" in fresh.restored) == (0.5, True)


def test_nothing_is_restored_where_nothing_was_touched(engine: Engine, plain: Image) -> None:
    assert after(engine, plain, "echo x > /srv/x", task(PASSES)).restored == ()


def test_tests_of_an_unprivileged_user_can_write_a_reward(engine: Engine, rich: Image) -> None:
    who = task(f"id -un; echo 1 > {REWARD}\n")
    found = after(engine, rich, "true", who)
    assert (found.reward, found.output_tail) == (1.0, "worker\n")
    assert after(engine, rich, "true", who, user="root").output_tail == "root\n"


def test_memory_that_ran_out_is_told(engine: Engine, plain: Image) -> None:
    hog = task(f"python3 -c 'bytearray(600 << 20)'; echo 0 > {REWARD}\n")
    assert after(engine, plain, "true", hog).oom


def test_the_work_sandbox_is_left_to_its_owner(engine: Engine, store: ImageStore) -> None:
    image = built(store, bundle())
    with engine.create(image, SPEC) as work:
        verify(engine, task(), work, spec=SPEC)
        assert isinstance(work.id, str)
    work.destroy()


def test_a_directory_that_is_gone_does_not_stop_the_tests(engine: Engine, store: ImageStore) -> None:
    image = built(store, bundle())
    with engine.create(image, SPEC) as work:
        work.exec(["/bin/sh", "-c", "rmdir /app; touch /app"], timeout=20, cwd="/")
        found = verify(engine, task("pwd\n" + PASSES), work, spec=SPEC, workdir="/app")
    assert (found.reward, found.output_tail) == (1.0, "/\n")
