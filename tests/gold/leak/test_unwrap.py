"""Everything that can hide a text, made by the real tools where there are any."""

import base64
import bz2
import gzip
import io
import lzma
import random
import subprocess
import tarfile
import time
import zipfile
import zlib

import pytest

from envs_forge.gold.leak.gitpack import pack_objects
from envs_forge.gold.leak.lines import fingerprints, telling_lines
from envs_forge.gold.leak.unwrap import Allowance, unwrap

SECRET = b"#!/bin/bash\nsed -i 's/port = 80/port = 8080/' /app/config.ini\nsystemctl restart the-service\n"


def tar(data, name="solve.sh", mode="w"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def zipped(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/solve.sh", data)
    return buffer.getvalue()


WRAPPINGS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zlib": zlib.compress,
    "base64": base64.b64encode,
    "base64 wrapped": lambda data: base64.encodebytes(data),
    "base64 urlsafe": base64.urlsafe_b64encode,
    "base64 without padding": lambda data: base64.b64encode(data).rstrip(b"="),
    "base64 in a script": lambda data: b'echo "' + base64.b64encode(data) + b'" | base64 -d | bash\n',
    "hex": lambda data: data.hex().encode(),
    "hex wrapped": lambda data: "\n".join(data.hex()[i : i + 60] for i in range(0, len(data.hex()), 60)).encode(),
    "escaped": lambda data: b"".join(b"\\x%02x" % byte for byte in data),
    "tar": tar,
    "tar.gz": lambda data: gzip.compress(tar(data)),
    "zip": zipped,
    "base64 of gzip": lambda data: base64.b64encode(gzip.compress(data)),
    "tar.gz in base64": lambda data: base64.encodebytes(gzip.compress(tar(data))),
}


def found(data):
    return [label for label, piece in unwrap(data, Allowance(1 << 26)) if piece.strip() == SECRET.strip()]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_wrappings_are_undone(wrapping):
    assert found(WRAPPINGS[wrapping](SECRET))


def test_labels_say_how_it_was_wrapped():
    assert found(base64.b64encode(gzip.compress(tar(SECRET)))) == ["base64/gzip/tar:solve.sh"]


@pytest.mark.parametrize("end", [10, 40, 60])
def test_cut_and_damaged_pieces_are_no_error(end):
    for wrap in WRAPPINGS.values():
        list(unwrap(wrap(SECRET)[:end], Allowance(1 << 20)))


def test_random_bytes_are_no_error():
    dice = random.Random(3)
    for magic in (b"", b"\x1f\x8b\x08", b"PK\x03\x04", b"BZh9", b"\xfd7zXZ\0", b"PACK\0\0\0\2\0\0\1\0", b"\x78\x9c"):
        for _ in range(20):
            list(unwrap(magic + dice.randbytes(400), Allowance(1 << 20)))


def test_a_bomb_stops_at_the_allowance():
    bomb = gzip.compress(gzip.compress(bytes(200_000_000), 9), 9)
    allowance = Allowance(1 << 25)
    started = time.process_time()
    total = sum(len(piece) for _, piece in unwrap(bomb, allowance))
    assert total <= 1 << 25
    assert time.process_time() - started < 20


def git(directory, *arguments):
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@e", *arguments]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Two hundred versions of one file, in one pack; the secret is in an old one."""
    directory = tmp_path_factory.mktemp("repository")
    git(directory, "init", "-q")
    lines = [f"option_{i} = value number {i}" for i in range(300)]
    for version in range(60):
        lines[version] = f"option_{version} = changed in version {version}"
        text = "\n".join(lines)
        (directory / "config").write_text(text + ("\n" + SECRET.decode() if version == 20 else "\n"))
        git(directory, "add", ".")
        git(directory, "commit", "-qm", f"version {version}")
    return directory


def test_loose_objects_of_git(repository):
    objects = [path.read_bytes() for path in (repository / ".git/objects").glob("??/*")]
    assert any(SECRET.strip() in piece for data in objects for _, piece in unwrap(data, Allowance(1 << 26)))


@pytest.mark.parametrize("options", [["--depth=50"], ["--depth=0"]])
def test_packs_of_git_hold_what_git_says_they_hold(repository, options):
    git(repository, "repack", "-adfq", *options)
    (pack,) = (repository / ".git/objects/pack").glob("*.pack")
    listing = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=repository, check=True, capture_output=True
    ).stdout
    objects = list(pack_objects(pack.read_bytes(), 1 << 24))
    assert len(objects) == 180
    assert all(content in listing for content in objects)
    assert sum(SECRET in content for content in objects) == 1


def test_objects_beyond_the_limit_are_passed_over(repository):
    git(repository, "repack", "-adfq", "--depth=0")
    (pack,) = (repository / ".git/objects/pack").glob("*.pack")
    objects = list(pack_objects(pack.read_bytes(), 1000))
    assert len(objects) == 180
    assert max(len(content) for content in objects) <= 1000
    assert sum(content.startswith(b"tree ") for content in objects) == 60


def test_lines_that_say_nothing_leave_no_fingerprint():
    assert list(telling_lines(b"#!/bin/bash\nset -e\n\n    done\n" + SECRET)) == SECRET.splitlines()[1:]
    assert fingerprints(b"yes\n") == set()


def test_printable_runs_of_binaries_are_lines():
    line = SECRET.splitlines()[1]
    assert list(telling_lines(b"\x7fELF\0\1" + line + b"\0\0")) == [line]
