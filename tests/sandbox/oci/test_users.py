from pathlib import Path

import pytest

from envs_forge.sandbox.oci.rootfs import Root
from envs_forge.sandbox.oci.users import Identity, UnknownUser, identify

PASSWD = """root:x:0:0:root:/root:/bin/sh
broken line
worker:x:1234:100:A worker:/home/worker:/bin/sh
half:x:minus:1::/:/bin/sh
"""
GROUP = """root:x:0:
users:x:100:
docker:x:999:worker,other
audio:x:29:other
lab:x:500:worker
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text(PASSWD)
    (tmp_path / "etc/group").write_text(GROUP)
    return tmp_path


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("", Identity(0, 0, (), "/root")),
        ("worker", Identity(1234, 100, (999, 500), "/home/worker")),
        ("1234", Identity(1234, 100, (999, 500), "/home/worker")),
        ("worker:audio", Identity(1234, 29, (), "/home/worker")),
        ("4321", Identity(4321, 0, (), "/")),
        ("4321:77", Identity(4321, 77, (), "/")),
    ],
)
def test_users_are_found(tree: Path, user: str, expected: Identity) -> None:
    with Root(tree) as root:
        assert identify(root, user) == expected


@pytest.mark.parametrize("user", ["nobody-here", "worker:nothing", "-1", "4294967296", "half"])
def test_who_is_not_there_is_said(tree: Path, user: str) -> None:
    with Root(tree) as root, pytest.raises(UnknownUser):
        identify(root, user)


def test_root_needs_no_files(tmp_path: Path) -> None:
    with Root(tmp_path) as root:
        assert identify(root, "") == Identity()


def test_the_hosts_files_are_out_of_reach(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    host = tmp_path_factory.mktemp("host") / "passwd"
    host.write_text("intruder:x:0:0::/:/bin/sh\n")
    (tree / "etc/passwd").unlink()
    (tree / "etc/passwd").symlink_to(host)
    with Root(tree) as root, pytest.raises(UnknownUser):
        identify(root, "intruder")
