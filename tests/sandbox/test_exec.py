import subprocess

import pytest

from envs_forge.sandbox.engine import Engine, Image, Sandbox, SandboxSpec
from waiting import eventually

pytestmark = pytest.mark.engine


def sh(sandbox: Sandbox, script: str, **how):
    return sandbox.exec(["/bin/sh", "-c", script], **{"timeout": 30, **how})


def test_what_the_image_says_holds(engine: Engine, rich: Image) -> None:
    spec = SandboxSpec(env={"ONLY_SPEC": "2", "GREETING": "laid over"}, hostname="box")
    with engine.create(rich, spec) as sandbox:
        script = "echo $GREETING $ONLY_IMAGE $ONLY_SPEC $EXTRA; pwd; id -un; id -gn; echo $HOME; hostname"
        said = sh(sandbox, script, env={"EXTRA": "3", "ONLY_SPEC": "4"}).stdout.decode().splitlines()
        assert said == ["laid over 1 4 3", "/srv/work/dir", "worker", "worker", "/home/worker", "box"]
        assert sh(sandbox, "echo $ONLY_SPEC; touch file", env={}).stdout == b"2\n"


def test_user_and_directory_can_be_chosen(engine: Engine, rich: Image) -> None:
    with engine.create(rich, SandboxSpec()) as sandbox:
        assert sh(sandbox, "id -u; pwd; echo $HOME", user="root", cwd="/usr").stdout == b"0\n/usr\n/root\n"
        assert sh(sandbox, "id -u; id -g", user="0:0").stdout == b"0\n0\n"
        assert sh(sandbox, "id -u; id -g", user="4321:77").stdout == b"4321\n77\n"


def test_exit_codes_and_streams_are_apart(shared: Sandbox) -> None:
    result = sh(shared, "echo out; echo err >&2; exit 7")
    assert (result.exit_code, result.stdout, result.stderr) == (7, b"out\n", b"err\n")
    assert not result.timed_out
    assert not result.truncated
    assert not result.oom
    assert sh(shared, "kill -9 $$").exit_code == 137


@pytest.mark.parametrize(
    ("argv", "cwd"),
    [(["/no/such/program"], None), (["no-such"], None), (["/etc/passwd"], None), (["true"], "/no/such")],
)
def test_what_cannot_start_is_data(shared: Sandbox, argv: list[str], cwd: str | None) -> None:
    result = shared.exec(argv, timeout=10, cwd=cwd)
    assert result.exit_code in (126, 127)
    assert result.stdout == b""
    assert result.stderr


def test_an_argv_is_not_read_by_a_shell(shared: Sandbox) -> None:
    odd = ["a b", "$HOME", "", "new\nline", "'\"", "ünï", "-n", "*"]
    assert shared.exec(["printf", "%s|", *odd], timeout=10).stdout.decode() == "|".join(odd) + "|"


def test_stdin_is_null_unless_given(shared: Sandbox) -> None:
    assert sh(shared, "readlink /proc/self/fd/0; cat; echo end").stdout == b"/dev/null\nend\n"


@pytest.mark.parametrize("data", [b"", b"short", b"\0\xff" * 10, b"x" * 3_000_000])
def test_stdin_arrives_whole_and_ends(shared: Sandbox, data: bytes) -> None:
    assert shared.exec(["wc", "-c"], timeout=20, stdin=data).stdout.split() == [str(len(data)).encode()]
    assert shared.exec(["cat"], timeout=20, stdin=data, output_limit=2**23).stdout == data


def test_stdin_that_nobody_reads_blocks_nothing(shared: Sandbox) -> None:
    assert shared.exec(["true"], timeout=20, stdin=b"x" * 5_000_000).exit_code == 0


def test_output_is_bytes(shared: Sandbox) -> None:
    every = bytes(range(256))
    assert shared.exec(["cat"], timeout=10, stdin=every).stdout == every
    assert sh(shared, r"printf '\000\351\377' >&2").stderr == b"\0\xe9\xff"


def test_output_beyond_the_limit_is_dropped_and_blocks_nothing(shared: Sandbox) -> None:
    result = sh(shared, "head -c 30000000 /dev/zero; echo end >&2", output_limit=1000)
    assert (len(result.stdout), result.stderr, result.exit_code) == (1000, b"end\n", 0)
    assert result.truncated
    exact = sh(shared, "head -c 1000 /dev/zero", output_limit=1000)
    assert len(exact.stdout) == 1000
    assert not exact.truncated


def test_a_command_that_closes_its_output_early_is_still_waited_for(shared: Sandbox) -> None:
    assert sh(shared, "exec >&- 2>&-; sleep 0.5; exit 9").exit_code == 9


def test_a_user_can_open_the_streams_by_name(engine: Engine, rich: Image) -> None:
    with engine.create(rich, SandboxSpec()) as sandbox:
        result = sh(sandbox, "echo out >/dev/stdout; echo err >/dev/stderr; echo tee | tee /dev/stderr >/dev/null")
        assert (result.stdout, result.stderr) == (b"out\n", b"err\ntee\n")


def test_a_background_process_lives_on_and_does_not_hold_the_command(sandbox: Sandbox) -> None:
    result = sh(sandbox, "sleep 987 & echo started")
    assert (result.exit_code, result.stdout, result.timed_out) == (0, b"started\n", False)
    assert eventually(lambda: b"sleep 987\n" in sh(sandbox, "ps -eo args").stdout)


def test_a_time_out_kills_the_commands_whole_tree_and_nothing_else(sandbox: Sandbox) -> None:
    sh(sandbox, "nohup sleep 111 >/dev/null 2>&1 &")
    assert eventually(lambda: b"\nsleep 111\n" in sh(sandbox, "ps -eo args").stdout)
    stubborn = (
        "trap '' TERM INT HUP; (sleep 222; :) & (trap '' TERM; sleep 222; :) & printf partial; sleep 222; sleep 222"
    )
    result = sh(sandbox, f"nohup sh -c '{stubborn.replace(chr(39), chr(34))}'", timeout=3)
    assert result.exit_code is None
    assert result.timed_out
    assert result.stdout.endswith(b"partial")
    left = sh(sandbox, "ps -eo args").stdout
    assert b"sleep 222" not in left
    assert b"sleep 111" in left


def test_a_time_out_with_output_that_never_ends(shared: Sandbox) -> None:
    result = shared.exec(["yes"], timeout=1, output_limit=100)
    assert result.timed_out
    assert result.truncated
    assert shared.exec(["true"], timeout=10).exit_code == 0


def test_after_everything_else_was_killed_a_command_still_runs(sandbox: Sandbox) -> None:
    for _ in range(2):
        sh(sandbox, "kill -9 -1", user="0:0")
        assert sh(sandbox, "echo still").stdout == b"still\n"


def test_orphans_are_reaped(shared: Sandbox) -> None:
    for _ in range(3):
        sh(shared, "for i in 1 2 3 4 5; do (sleep 0.01 &); done")
    assert eventually(lambda: b"Z" not in sh(shared, "ps -eo stat=").stdout)


def test_a_command_line_for_other_programs(engine: Engine, rich: Image) -> None:
    with engine.create(rich, SandboxSpec(env={"ONLY_SPEC": "a b"})) as sandbox:
        argv = [*sandbox.exec_prefix(), "sh", "-c", "cat; pwd; id -un; echo $ONLY_SPEC; echo $GREETING >&2; exit 5"]
        run = subprocess.run(argv, input=b"fed\n", capture_output=True, timeout=60, check=False)
        assert run.stdout.decode().splitlines() == ["fed", "/srv/work/dir", "worker", "a b"]
        assert (run.stderr, run.returncode) == (b"hello there\n", 5)
