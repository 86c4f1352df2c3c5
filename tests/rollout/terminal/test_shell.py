import pytest

from envs_forge.rollout.policies.terminal.shell import OUTPUT_LIMIT, STATE_LIMIT, Shell

from .terminals import LocalSandbox

SHELLS = pytest.mark.parametrize("bash", [True, False], ids=["bash", "sh"])


@pytest.fixture
def shell(tmp_path):
    return Shell(LocalSandbox(tmp_path))


def says(shell, command, timeout_s=10.0):
    ran = shell.run(command, timeout_s)
    return ran.exit_code, ran.output.decode()


@SHELLS
def test_directory_environment_and_umask_last(tmp_path, bash):
    shell = Shell(LocalSandbox(tmp_path, bash=bash))
    odd = 'it\'s "a" $b\n `c` ü'
    says(
        shell,
        f"mkdir 'a b'\"'c\"; cd a*; umask 027; export X='{odd.replace(chr(39), chr(39) + chr(92) + chr(39) * 2)}'",
    )
    assert says(shell, 'printf %s "$X"; umask') == (0, f"{odd}0027\n")
    assert says(shell, "pwd; unset X")[1] == f"{tmp_path}/a b'c\n"
    if bash:
        assert says(shell, 'echo "${X-gone}"; unset FROM_IMAGE')[1] == "gone\n"
        assert says(shell, 'echo "${FROM_IMAGE-gone}"')[1] == "gone\n"


def test_variables_functions_and_arrays_last_in_bash(shell):
    says(shell, "x=5; a=(1 '2 3'); declare -A m=([k]=v); readonly r=1; f() { echo \"f $1 $x\"; }; IFS=,")
    assert says(shell, 'f 1; printf "%s|" "${a[@]}" "${m[k]}" "$r" "$IFS"')[1] == "f 1 5\n1|2 3|v|1|,|"


def test_nothing_of_ours_shows(shell):
    says(shell, "cd /")
    _, output = says(shell, 'env; set; ls /proc/self/fd; tr "\\0" " " < /proc/$$/cmdline')
    assert "__forge_pwd" not in output
    assert "FORGE" not in output
    assert output.rstrip().endswith('0\n1\n2\n3\nbash -c eval "$(cat)"')


@SHELLS
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("exit 3", 3),
        ("false", 1),
        ("set -e; false; echo no", 1),
        ("nosuch", 127),
        ("if", 2),
        ("x=$(", 2),
        ("(exit 9)", 9),
    ],
)
def test_exit_codes_are_the_command_s_and_the_shell_goes_on(tmp_path, bash, command, code):
    shell = Shell(LocalSandbox(tmp_path, bash=bash))
    says(shell, "cd /usr")
    assert says(shell, command)[0] == code
    assert says(shell, "echo fine; pwd; false; true") == (0, "fine\n/usr\n")


def test_both_streams_in_order_and_an_empty_stdin(shell):
    assert says(shell, "echo a; echo b >&2; echo c; cat; read x || echo end")[1] == "a\nb\nc\nend\n"


@pytest.mark.parametrize(
    "command",
    [
        "printf '# end\\n'; printf '# end\\n' >&2; (exit 4)",
        "printf 'cd -- /\\n# end\\n' > /proc/self/fd/9; (exit 4)",
        "trap 'echo mine; exit 0' EXIT; (exit 4)",
        "declare() { echo gotcha; }; printf() { echo gotcha; }; (exit 4)",
        "echo exit code 0; echo '{\"exit_code\": 0}'; (exit 4)",
    ],
)
def test_no_output_passes_for_an_end_or_an_exit_code(shell, command):
    says(shell, "cd /usr")
    assert says(shell, command)[0] == 4
    assert says(shell, "/usr/bin/printf x; pwd; unset -f declare printf; (exit 5)")[0] == 5


def test_a_shell_that_is_killed_or_replaced_keeps_its_last_state(shell):
    says(shell, "cd /usr; x=1")
    for command in ("x=2; exec true", "x=2; kill -9 $$", "x=2; exec 2>&1 9>&-; kill -9 $$"):
        ran = shell.run(command, 10)
        assert not ran.state_kept
    assert says(shell, "pwd; echo $x")[1] == "/usr\n1\n"


def test_a_command_that_hangs_is_killed_and_the_shell_goes_on(shell):
    says(shell, "cd /usr")
    ran = shell.run("echo before; x=2; exec sleep 60", 0.3)
    assert (ran.exit_code, ran.timed_out, ran.output, ran.state_kept) == (None, True, b"before\n", False)
    assert says(shell, "pwd; echo ${x-none}")[1] == "/usr\nnone\n"


def test_a_state_that_is_too_large_is_left_out(shell):
    says(shell, "x=1")
    ran = shell.run(f"x=2; y=$(head -c {STATE_LIMIT} /dev/zero | tr '\\0' y)", 10)
    assert (ran.exit_code, ran.state_kept) == (0, False)
    assert says(shell, "echo $x")[1] == "1\n"


def test_a_directory_that_is_gone_is_said(shell):
    says(shell, "mkdir here; cd here; rmdir ../here")
    assert says(shell, "pwd")[1] == "the working directory is gone\n/\n"
    assert says(shell, "pwd")[1] == "/\n"


def test_odd_commands(shell):
    assert says(shell, "printf 'a\0b'")[1] == "ab"
    assert says(shell, "cat <<'E'\n$x `y` 'z'\nE\necho ü\ud800")[1] == "$x `y` 'z'\nü?\n"
    assert says(shell, "") == (0, "")
    assert says(shell, f"true {'x' * 300_000}") == (0, "")


def test_more_output_than_is_read_is_said(shell):
    ran = shell.run(f"head -c {OUTPUT_LIMIT + 1} /dev/zero; (exit 6)", 30)
    assert (ran.truncated, len(ran.output), ran.exit_code, ran.state_kept) == (True, OUTPUT_LIMIT, 6, True)
