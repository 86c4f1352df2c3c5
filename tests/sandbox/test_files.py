import contextlib
import io
import tarfile

import pytest

from envs_forge.bundle.model import BundleFile
from envs_forge.errors import EngineError
from envs_forge.sandbox.archive import pack, read_files
from envs_forge.sandbox.engine import Sandbox

pytestmark = pytest.mark.engine

ODD_NAMES = [
    "new\nline",
    " leading space",
    "-rf",
    "ünï çødé",
    "quote'\"",
    "back\\slash",
    "a" * 200,
    "*?[x]",
    "caf\udce9",
]


def sh(sandbox: Sandbox, script: str) -> bytes:
    return sandbox.exec(["/bin/sh", "-c", script], timeout=60).stdout


def names(sandbox: Sandbox, path: str) -> list[str]:
    with sandbox.get(path) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        return [info.name for info in tar]


def test_odd_names_and_bytes_come_back(shared: Sandbox) -> None:
    files = {f"d/{name}": BundleFile(data=name.encode(errors="surrogateescape") + b"\0\xff") for name in ODD_NAMES}
    shared.put("/odd/made/on/the/way", pack(files))
    with shared.get("/odd/made/on/the/way/d") as stream:
        assert read_files(stream) == files


def test_modes_links_and_owners_are_kept(shared: Sandbox) -> None:
    info = tarfile.TarInfo("owned")
    info.uid, info.gid, info.mode = 1234, 77, 0o4751
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.addfile(info)
    buffer.seek(0)
    shared.put("/kept", buffer)
    shared.put("/kept", pack({"l": BundleFile(target="../etc/hostname")}, directories={"wide": 0o777}))
    said = sh(shared, "cd /kept; stat -c '%u %g %a' owned; readlink l; stat -c %a wide").decode().splitlines()
    assert said == ["1234 77 4751", "../etc/hostname", "777"]


def test_a_large_file_goes_in_and_comes_out(shared: Sandbox) -> None:
    data = bytes(range(256)) * 160_000
    shared.put("/large", pack({"file": BundleFile(data=data)}))
    assert sh(shared, "sha256sum </large/file") == sh(shared, "cat /large/file | sha256sum")
    with shared.get("/large/file") as stream:
        assert read_files(stream)["file"].data == data
    sh(shared, "rm -r /large")


def test_only_part_of_an_archive_may_be_read(shared: Sandbox) -> None:
    sh(shared, "head -c 20000000 /dev/zero > /zeros")
    with shared.get("/zeros") as stream:
        assert len(stream.read(512)) == 512
    assert sh(shared, "rm /zeros; echo on") == b"on\n"


def test_names_begin_with_the_last_part_of_the_path(shared: Sandbox) -> None:
    sh(shared, "mkdir -p /outer/inner/deep && touch /outer/inner/deep/file")
    assert names(shared, "/outer/inner") == ["inner", "inner/deep", "inner/deep/file"]
    assert names(shared, "/outer/inner/deep/file") == ["file"]


@pytest.mark.parametrize("path", ["/no/such/file", "/etc/passwd/below-a-file", "/dangling/x"])
def test_nothing_there_is_file_not_found(shared: Sandbox, path: str) -> None:
    sh(shared, "ln -sfn /nowhere /dangling")
    with pytest.raises(FileNotFoundError), shared.get(path):
        pass


def test_a_link_is_fetched_as_a_link(shared: Sandbox) -> None:
    sh(shared, "ln -sfn /etc/shadow /tmp/trap")
    with shared.get("/tmp/trap") as stream:
        assert read_files(stream) == {"trap": BundleFile(target="/etc/shadow")}


def test_special_files_are_fetched_without_waiting_for_them(shared: Sandbox) -> None:
    bind = "import socket; socket.socket(socket.AF_UNIX).bind('/special/socket')"
    sh(shared, f'mkdir -p /special && mkfifo /special/fifo && python3 -c "{bind}"')
    assert "special/fifo" in names(shared, "/special")


def test_links_never_lead_out_of_the_root(shared: Sandbox, tmp_path) -> None:
    """Whatever the link, what is written lands inside, and what is read is the sandbox's own."""
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    up = "../" * 40
    links = {"up": f"{up}{tmp_path}", "absolute": str(tmp_path), "root": f"/proc/1/root/{tmp_path}"}
    sh(shared, "mkdir -p /in; " + "; ".join(f"ln -sfn {target} /in/{name}" for name, target in links.items()))
    for link in links:
        with contextlib.suppress(NotADirectoryError):
            shared.put(f"/in/{link}/planted", pack({"file": BundleFile(data=b"x")}))
        with pytest.raises(FileNotFoundError), shared.get(f"/in/{link}/secret"):
            pass
    with contextlib.suppress(NotADirectoryError):
        shared.put("/in", pack({"up/second": BundleFile(data=b"x")}))
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_file_in_the_place_of_a_directory_gives_way(shared: Sandbox) -> None:
    sh(shared, "rm -rf /clash; echo file > /clash")
    shared.put("/clash", pack({"inside": BundleFile(data=b"x")}))
    assert sh(shared, "cat /clash/inside") == b"x"


def test_nothing_escapes_while_a_hostile_process_shuffles_links(sandbox: Sandbox, tmp_path) -> None:
    shuffle = f"while :; do ln -sfn {tmp_path} /race/d; rm -f /race/d; mkdir /race/d; rm -rf /race/d; done"
    sh(sandbox, f"mkdir /race; nohup sh -c '{shuffle}' >/dev/null 2>&1 &")
    for number in range(15):
        with contextlib.suppress(EngineError, OSError):
            sandbox.put("/race/d", pack({f"f{number}": BundleFile(data=b"x")}))
    assert not list(tmp_path.iterdir())
