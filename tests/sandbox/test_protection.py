"""What an agent may change so that the tests see it."""

import pytest

from envs_forge.sandbox.engine import FileChange, Image
from envs_forge.sandbox.protection import Protection, carried, is_kept, spoilt
from gold.tasks import task

IMAGE = Image("sha256:0", "x", env={"PATH": "/opt/venv/bin:/usr/bin:/bin:/app/tools"}, workdir="/app")
TESTS = "import csv\nimport json\n\nfrom helper import x\n"


def protection(instruction="Do it.\n"):
    return Protection(task(instruction=instruction, **{"tests/test_x.py": TESTS}), IMAGE)


@pytest.mark.parametrize(
    "path",
    [
        "/usr/bin/python3",
        "/bin",
        "/lib64/ld-linux-x86-64.so.2",
        "/etc/ld.so.preload",
        "/etc/profile.d/x.sh",
        "/usr/local/bin/pytest",
        "/usr/local/lib/python3.11/dist-packages/evil.pth",
        "/opt/venv/bin/python",
        "/opt/venv/lib/python3.11/site-packages/x.py",
        "/app/tools/jq",
        "/root/.bashrc",
        "/home/agent/.local/lib/python3.11/site-packages/sitecustomize.py",
        "/root/.config/git/config",
        "/root/.gitconfig",
        "/app/conftest.py",
        "/conftest.py",
        "/pytest.ini",
        "/setup.cfg",
        "/app/deep/below/conftest.py",
        "/srv/x.pth",
        "/app/json.py",
        "/app/csv/__init__.py",
        "/app/argparse.cpython-311-x86_64-linux-gnu.so",
        "/app/pytest.py",
        "/app/.git/config",
        "/srv/site.git/hooks/post-receive",
        "/app/.git/modules/library/config",
        "/app/.git/worktrees/x/config.worktree",
    ],
)
def test_protected(path):
    assert protection().covers(path)


@pytest.mark.parametrize(
    "path",
    [
        "/app/report.csv",
        "/app/.git/refs/heads/config",
        "/app/.git/objects/ab/cdef",
        "/app/.git/HEAD",
        "/app/config",
        "/root/notes.txt",
        "/home/agent/work/.bashrc",
        "/app/src/json.py",
        "/app/test.py",
        "/app/code",
        "/app/code/main.py",
        "/app/json.csv",
        "/app/setup.cfg",
        "/opt/tool/bin/x",
        "/var/spool/cron/crontabs/root",
        "/srv/etc/passwd",
        "/tmp/x",
    ],
)
def test_free(path):
    assert not protection().covers(path)


def test_what_the_instruction_names_is_meant_but_not_in_the_system():
    asked = protection("Write conftest.py and json.py, and a .bashrc; mend /etc/hosts.allow.\n")
    assert not asked.covers("/app/conftest.py")
    assert not asked.covers("/app/json.py")
    assert not asked.covers("/root/.bashrc")
    assert asked.covers("/etc/hosts.allow")


def test_directories_that_only_hold_changes_do_not_count():
    changes = [FileChange("/usr"), FileChange("/usr/lib"), FileChange("/usr/lib/x"), FileChange("/app/y")]
    assert [change.path for change in spoilt(changes, protection())] == ["/usr/lib/x"]
    replaced = [FileChange("/etc/apt", deleted=True), FileChange("/etc/apt"), FileChange("/etc/apt/x")]
    assert [change.path for change in spoilt(replaced, protection())] == ["/etc/apt", "/etc/apt/x"]


def test_only_work_is_carried_over():
    paths = ["/usr", "/usr/lib", "/usr/lib/evil", "/usr/bin", "/usr/bin/tool", "/app", "/app/y"]
    left = carried([FileChange(path) for path in paths], protection(), frozenset({"/usr/lib/evil"}))
    assert [change.path for change in left] == ["/usr/bin/tool", "/app", "/app/y"]


def test_caches_of_python_are_never_kept():
    kept = frozenset({"/usr/bin/x", "/usr/lib/python3.11/__pycache__/json.cpython-311.pyc"})
    assert [is_kept(path, kept) for path in sorted(kept)] == [True, False]
    assert not is_kept("/usr/bin/y", kept)
