"""Where an image's layers come from: in place, exported, pruned."""

import contextlib
import gzip
import hashlib
import io
import json
import secrets
import stat
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import docker
import pytest
from docker.errors import ImageNotFound

from envs_forge.errors import EngineError
from envs_forge.sandbox import owner
from envs_forge.sandbox.engine import Image, Sandbox, SandboxSpec
from envs_forge.sandbox.oci import OciEngine, init, layers
from envs_forge.sandbox.oci.layer_cache import LayerCache, remove_half_done

from .conftest import SMALL

pytestmark = pytest.mark.engine


def layer(*members: tuple[str, bytes | None]) -> bytes:
    """A layer's tar; None makes a directory."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            info.mode = 0o755
            info.size = len(content or b"")
            tar.addfile(info, io.BytesIO(content or b""))
    return buffer.getvalue()


LOWER = layer(("etc", None), ("etc/kept", b"1"), ("etc/gone", b"2"), ("full", None), ("full/old", b"3"))
UPPER = layer(("etc", None), ("etc/.wh.gone", b""), ("full", None), ("full/.wh..wh..opq", b""), ("full/new", b"4"))


def saved_as_oci(*contents: bytes) -> bytes:
    names = [f"blobs/sha256/{hashlib.sha256(content).hexdigest()}" for content in contents]
    manifest = json.dumps([{"Config": "blobs/sha256/config", "Layers": names}]).encode()
    parts = [
        *zip(names, contents, strict=True),
        ("blobs/sha256/config", b'{"rootfs": {}}'),
        ("manifest.json", manifest),
    ]
    return layer(*parts)


def saved_classically(*contents: bytes) -> bytes:
    names = [f"{hashlib.sha1(content).hexdigest()}/layer.tar" for content in contents]
    manifest = json.dumps([{"Config": "x.json", "Layers": names}]).encode()
    return layer(*zip(names, contents, strict=True), ("x.json", b"{}"), ("manifest.json", manifest))


@pytest.mark.parametrize(
    "save",
    [
        lambda: saved_as_oci(LOWER, UPPER),
        lambda: saved_classically(LOWER, UPPER),
        lambda: saved_as_oci(gzip.compress(LOWER), gzip.compress(UPPER)),
    ],
    ids=["oci", "classic", "gzip"],
)
def test_layers_are_unpacked_as_overlayfs_wants_them(tmp_path: Path, save: Callable[[], bytes]) -> None:
    upper, lower = LayerCache(tmp_path).ensure("sha256:1", lambda: [save()])
    assert (lower / "etc/kept").read_text() == "1"
    hidden = (upper / "etc/gone").stat()
    assert stat.S_ISCHR(hidden.st_mode)
    assert hidden.st_rdev == 0
    assert sorted(path.name for path in (upper / "full").iterdir()) == ["new"]


def test_an_image_is_saved_once_and_a_shared_layer_kept_once(tmp_path: Path) -> None:
    cache = LayerCache(tmp_path)
    first = cache.ensure("sha256:1", lambda: [saved_as_oci(LOWER)])
    again = cache.ensure("sha256:1", lambda: pytest.fail("it is there"))
    second = cache.ensure("sha256:2", lambda: [saved_as_oci(LOWER, UPPER)])
    assert first == again == second[1:]
    assert len([path for path in tmp_path.iterdir() if path.name != "images"]) == 2


def test_an_interrupted_save_leaves_nothing_half(tmp_path: Path) -> None:
    whole = saved_as_oci(LOWER)

    def broken() -> Iterator[bytes]:
        yield whole[:2000]
        raise EngineError("the engine died")

    cache = LayerCache(tmp_path)
    with pytest.raises(EngineError, match="died"):
        cache.ensure("sha256:1", broken)
    assert [path.name for path in tmp_path.iterdir()] == ["images"]
    assert cache.ensure("sha256:1", lambda: [whole])


def test_what_a_dead_process_was_unpacking_is_removed(tmp_path: Path) -> None:
    me = owner.current()
    dead = replace(me, pid=2**22 + 1)
    for who in (me, dead):
        (tmp_path / f"new-{who.mark()}-abc" / "usr").mkdir(parents=True)
    assert remove_half_done(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == [f"new-{me.mark()}-abc"]


def test_a_layer_cannot_write_outside(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        LayerCache(tmp_path / "cache").ensure("sha256:1", lambda: [saved_as_oci(layer(("../../escaped", b"x")))])
    assert caught.value.code == "bad-archive"


@pytest.fixture
def tiny(client: docker.APIClient) -> Iterator[Image]:
    """An image of its own, of two layers; its one program ends at once with 0."""
    base = layer(("program", init.code()), ("etc", None), ("etc/below", b"1"), ("proc", None))
    name = f"envs-forge-test-{secrets.token_hex(6)}"
    client.import_image_from_data(base, repository=name, tag="base")
    container = client.create_container(f"{name}:base", ["/program"])["Id"]
    client.put_archive(container, "/", layer(("etc", None), ("etc/above", b"2"), ("own", b"x")))
    made = client.commit(container, repository=name, tag="top")["Id"]
    client.remove_container(container)
    yield Image(made, "", workdir="/")
    for tag in ("top", "base"):
        with contextlib.suppress(ImageNotFound):
            client.remove_image(f"{name}:{tag}", force=True)


def files(sandbox: Sandbox) -> dict[str, tuple[int, int, int]]:
    with sandbox.get("/") as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        return {member.name: (member.mode, member.uid, member.size) for member in tar if member.isreg()}


def test_an_exported_image_looks_like_one_in_place(
    client: docker.APIClient, tiny: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for exported in (False, True):
        if exported:
            monkeypatch.setattr(layers, "_in_place", lambda inspected: None)
        engine = OciEngine(client, state=tmp_path)
        with engine.create(tiny, SandboxSpec(limits=SMALL)) as sandbox:
            assert sandbox.exec(["/program"], timeout=20).exit_code == 0
            seen.append(files(sandbox))
        assert engine.describe()["layers"] == (layers.EXPORTED if exported else layers.IN_PLACE)
        engine.close()
    assert seen[0] == seen[1]
    assert {"./program", "./etc/below", "./etc/above", "./own"} <= set(seen[0])


def test_pruned_layers_are_the_machines_fault(oci: OciEngine, client: docker.APIClient, tiny: Image) -> None:
    with oci.create(tiny, SandboxSpec(limits=SMALL)) as sandbox:
        assert sandbox.exec(["/program"], timeout=10).exit_code == 0
        client.remove_image(tiny.id, force=True)
        with pytest.raises(EngineError) as caught:
            sandbox.exec(["/program"], timeout=10)
        assert caught.value.code == "layers-pruned"
    with pytest.raises(EngineError) as caught:
        oci.create(tiny, SandboxSpec(limits=SMALL))
    assert caught.value.code == "image-missing"


def test_an_image_without_a_shell_or_users_runs(oci: OciEngine, tiny: Image) -> None:
    with oci.create(tiny, SandboxSpec(limits=SMALL)) as sandbox:
        assert sandbox.exec(["/program"], timeout=10, user="1234:5678").exit_code == 0
        assert sandbox.exec(["/program"], timeout=10, user="worker").exit_code == 126
