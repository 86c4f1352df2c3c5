"""Archives to and from a container, with what the SDK leaves out."""

from __future__ import annotations

import copy
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import BinaryIO, cast

import docker
import requests
from docker.errors import APIError

SPOOL_BYTES = 8 * 1024 * 1024
IN_THE_WAY = ("not a directory", "no such file", "not exist", "file exists", "levels of symbolic links")


def open_archive(client: docker.APIClient, container: str, path: str) -> requests.Response | None:
    """The response that streams a tar of `path`, to be closed by the caller; None when nothing is there.

    The SDK's own method hides the response, so that a stream which is only read in part could not be ended.

    Raises:
        APIError: The engine refused.
    """
    url = f"{client.base_url}/v{client.api_version}/containers/{container}/archive"
    response = client.get(url, params={"path": path}, stream=True, timeout=client.timeout)
    if response.status_code == HTTPStatus.OK:
        return cast(requests.Response, response)
    with response:
        error = APIError(response.text, response=response, explanation=response.text)
    if is_no_directory(error):
        return None
    raise error


@contextmanager
def rerooted(archive: BinaryIO, target: str) -> Iterator[BinaryIO]:
    """The archive with `target` before every name, to be unpacked at the root.

    The engine refuses links that lead out of the directory it unpacks to, so it always has to be the root.
    """
    prefix = target.strip("/")
    if not prefix:
        yield archive
        return
    with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
        with (
            tarfile.open(fileobj=archive, mode="r|") as source,
            tarfile.open(fileobj=spool, mode="w", format=tarfile.GNU_FORMAT) as made,
        ):
            for info in source:
                made.addfile(_moved(info, prefix), source.extractfile(info) if info.isreg() else None)
        spool.seek(0)
        yield cast(BinaryIO, spool)


def is_no_directory(error: APIError) -> bool:
    """Whether the engine says that a path is not there, or leads through something that is no directory."""
    text = str(error.explanation).lower()
    if "no such container" in text:
        return False
    return error.status_code == HTTPStatus.NOT_FOUND or any(sign in text for sign in IN_THE_WAY)


def _moved(info: tarfile.TarInfo, prefix: str) -> tarfile.TarInfo:
    moved = copy.copy(info)
    moved.name = f"{prefix}/{info.name.removeprefix('./')}".rstrip("/")
    if info.islnk():
        moved.linkname = f"{prefix}/{info.linkname.removeprefix('./')}"
    return moved
