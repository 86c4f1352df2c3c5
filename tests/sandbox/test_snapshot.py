import pytest

from envs_forge.bundle.model import BundleFile
from envs_forge.sandbox.archive import pack, read_files
from envs_forge.sandbox.engine import Engine, Image, Sandbox, SandboxSpec
from envs_forge.sandbox.images.store import ImageStore

from .bundles import bundle
from .conftest import built

pytestmark = pytest.mark.engine


def sh(sandbox: Sandbox, script: str, **how) -> bytes:
    return sandbox.exec(["/bin/sh", "-c", script], **{"timeout": 30, **how}).stdout


def test_two_children_start_from_the_same_files_and_do_not_meet(engine: Engine, rich: Image) -> None:
    parent = engine.create(rich, SandboxSpec(env={"OF_PARENT": "1"}))
    sh(parent, "echo work > left; rm /full/sub/file; mkdir d; nohup sleep 333 >/dev/null 2>&1 &", user="0:0")
    snapshot = parent.snapshot()
    parent.destroy()
    one, other = (engine.create(snapshot, SandboxSpec()) for _ in range(2))
    for child in (one, other):
        said = (
            sh(child, "cat left; pwd; id -un; echo $GREETING; ls /full/sub; echo [$OF_PARENT]; ls")
            .decode()
            .splitlines()
        )
        assert said == ["work", "/srv/work/dir", "worker", "hello there", "[]", "d", "left"]
        assert b"sleep 333" not in sh(child, "ps -eo args")
    sh(one, "echo changed > left; rm -r d", user="0:0")
    assert sh(other, "cat left; ls") == b"work\nd\nleft\n"
    one.destroy()
    assert sh(other, "cat left") == b"work\n"
    other.destroy()
    assert snapshot.image == rich
    snapshot.release()
    snapshot.release()


def test_a_snapshot_of_a_child_holds_both_layers(engine: Engine, plain: Image) -> None:
    with engine.create(plain, SandboxSpec()) as first:
        sh(first, "echo 1 > /one")
        lower = first.snapshot()
    with engine.create(lower, SandboxSpec()) as second:
        sh(second, "echo 2 > /two; rm /one")
        upper = second.snapshot()
    with engine.create(upper, SandboxSpec()) as third:
        assert sh(third, "cat /two; ls /one 2>&1 | head -c 3") == b"2\nls:"
    upper.release()
    lower.release()


def test_the_image_itself_is_never_written(engine: Engine, plain: Image) -> None:
    for _ in range(2):
        with engine.create(plain, SandboxSpec()) as sandbox:
            assert sh(sandbox, "ls /mark 2>/dev/null; touch /mark") == b""


def test_what_lies_on_a_declared_volume_is_part_of_it(engine: Engine, store: ImageStore) -> None:
    image = built(store, bundle("FROM debian:12.11-slim\nRUN mkdir /data && echo old > /data/old\nVOLUME /data\n"))
    with engine.create(image, SandboxSpec()) as sandbox:
        assert sh(sandbox, "echo new > /data/new; cat /data/old") == b"old\n"
        snapshot = sandbox.snapshot()
    with engine.create(snapshot, SandboxSpec()) as child:
        assert sh(child, "cat /data/new /data/old") == b"new\nold\n"
    snapshot.release()


TRAPS = {
    "/link": "ln -s /etc /link",
    "/dangling": "ln -s /nowhere /dangling",
    "/parent-link/verifier": "mkdir /elsewhere; ln -s /elsewhere /parent-link",
    "/parent-dangling/verifier": "ln -s /nowhere /parent-dangling",
    "/parent-file/verifier": "echo x > /parent-file",
    "/file": "echo x > /file",
    "/fifo": "mkfifo /fifo",
    "/full": "mkdir -p /full/deep; echo x > /full/deep/file; echo x > /full/.hidden; ln -s /etc /full/link",
    "/shut": "mkdir /shut; echo x > /shut/x; chown 1234 /shut; chmod 0 /shut",
    "/deep/not/there/yet": ":",
    "/tests": "mkdir -p /tests; (while :; do echo x > /tests/late; sleep 0.01; done) >/dev/null 2>&1 &",
}
"""Fresh directory → what a hostile command does to its place before the snapshot."""


def test_fresh_directories_are_fresh_whatever_was_there(engine: Engine, plain: Image) -> None:
    with engine.create(plain, SandboxSpec()) as sandbox:
        sh(sandbox, "\n".join(TRAPS.values()))
        snapshot = sandbox.snapshot()
    with engine.create(snapshot, SandboxSpec(fresh_dirs=tuple(TRAPS))) as child:
        for path in TRAPS:
            assert sh(child, f"stat -c '%F %u %g' {path}; ls -A {path}; readlink -f {path}") == (
                f"directory 0 0\n{path}\n".encode()
            )
        child.put("/", pack({"link/file": BundleFile(data=b"planted")}, directories={"full": 0o777}))
        assert sh(child, "cat /link/file; stat -c %a /full") == b"planted777\n"
        assert sh(child, "ls /etc/file /elsewhere/* 2>/dev/null") == b""
    snapshot.release()


def test_fresh_directories_on_an_image(engine: Engine, rich: Image) -> None:
    with engine.create(rich, SandboxSpec(fresh_dirs=("/full", "/door"))) as sandbox:
        assert sh(sandbox, "ls -A /full /door") == b"/door:\n\n/full:\n"
        with sandbox.get("/full") as stream:
            assert read_files(stream) == {}
