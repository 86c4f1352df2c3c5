"""A real registry, of one image, on this machine."""

import hashlib
import io
import json
import socket
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from envs_forge.sandbox.images.model import BuiltImage
from envs_forge.sandbox.images.registry import Registries, RegistryPolicy
from envs_forge.sandbox.images.store import ImageStore
from envs_forge.sandbox.prerequisites import BASE_IMAGE

from ..bundles import bundle

pytestmark = pytest.mark.engine
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar"


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def image_blobs() -> tuple[bytes, dict[str, bytes]]:
    """A manifest and the blobs it names: one layer with one file."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        info = tarfile.TarInfo("real")
        info.size = 4
        tar.addfile(info, io.BytesIO(b"real"))
    layer = buffer.getvalue()
    rootfs = {"type": "layers", "diff_ids": [digest(layer)]}
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": rootfs}).encode()
    parts = [(CONFIG, config), (LAYER, layer)]
    about = [{"mediaType": kind, "size": len(data), "digest": digest(data)} for kind, data in parts]
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": about[0], "layers": about[1:]}
    return json.dumps(manifest).encode(), {digest(data): data for _, data in parts}


class Handler(BaseHTTPRequestHandler):
    manifest, blobs = image_blobs()
    asked: list[str]

    def handle_one_request(self) -> None:
        """Tell a client that begins with TLS, as Go's can understand, that this is plain HTTP."""
        if self.connection.recv(1, socket.MSG_PEEK) == b"\x16":
            self.wfile.write(b"HTTP/1.0 400 Bad Request\r\n\r\n")
            self.close_connection = True
        else:
            super().handle_one_request()

    def do_GET(self) -> None:
        self.asked.append(self.path)
        last = self.path.rpartition("/")[2]
        if self.path == "/v2/":
            self.answer(b"{}", "application/json")
        elif self.path.startswith("/v2/tiny/manifests/") and last in ("1", digest(self.manifest)):
            self.answer(self.manifest, MANIFEST)
        elif last in self.blobs:
            self.answer(self.blobs[last], "application/octet-stream")
        else:
            self.answer(b'{"errors": [{"code": "MANIFEST_UNKNOWN"}]}', "application/json", 404)

    do_HEAD = do_GET

    def answer(self, data: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Docker-Content-Digest", digest(data))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    Handler.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def test_each_name_is_asked_for_once_and_silence_is_remembered(store: ImageStore, server: ThreadingHTTPServer) -> None:
    host = f"localhost:{server.server_port}"
    registries = Registries()
    assert [registries.has(f"{host}/tiny:1") for _ in range(3)] == [True] * 3
    asked = len(Handler.asked)
    assert not registries.has(f"{host}/other:1")
    assert len(Handler.asked) > asked
    assert registries.has(f"{host}/tiny:1")
    assert not registries.has(f"{host}/Not A Name")
    assert not any(registries.has(f"localhost:1/{name}") for name in ("a", "b"))


def test_the_real_image_is_used_where_the_registry_has_it(store: ImageStore, server: ThreadingHTTPServer) -> None:
    host = f"localhost:{server.server_port}"
    names = {f"{host}/*": BASE_IMAGE}
    task = bundle(f"FROM {host}/tiny:1\nCOPY Dockerfile /copy\n")
    made = {policy: ImageStore(base_images=names, registry=policy).ensure(task) for policy in RegistryPolicy}
    assert all(isinstance(image, BuiltImage) for image in made.values()), made
    assert made[RegistryPolicy.FIRST].substitutions == {}
    stood_in = {f"{host}/tiny:1": BASE_IMAGE}
    assert made[RegistryPolicy.LAST].substitutions == made[RegistryPolicy.NEVER].substitutions == stood_in
    server.shutdown()
    server.server_close()
    again = ImageStore(base_images=names).ensure(task)
    assert isinstance(again, BuiltImage)
    assert (again.built, again.substitutions) == (False, {})
    other = ImageStore(base_images=names).ensure(bundle(f"FROM {host}/tiny:1\nENV SILENT=1\n"))
    assert other.substitutions == stood_in
    tags = {image.image.tag for image in (*made.values(), other) if isinstance(image, BuiltImage)}
    mine = [image for image in store.local.list_built() if tags & set(image.tags)]
    assert store.local.remove(mine) == len(tags) == 3


def test_an_image_by_name_is_pulled(store: ImageStore, server: ThreadingHTTPServer) -> None:
    name = f"localhost:{server.server_port}/tiny:1"
    pulled = ImageStore().ensure(bundle(None, docker_image=name))
    assert isinstance(pulled, BuiltImage)
    assert store.local.find(name) == pulled.image
    store._client.remove_image(name)
