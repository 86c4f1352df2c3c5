import io
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs_forge.bundle.model import BundleFile
from envs_forge.sandbox.archive import ArchiveError, ArchiveLimits, Kind, entries, extract, pack, read_files

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=40).filter(
    lambda name: name not in (".", "..") and len(name.encode()) <= 200
)
FILES = st.dictionaries(NAMES, st.builds(BundleFile, data=st.binary(max_size=2000), mode=st.integers(0, 0o777)))


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for info, data in members:
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    buffer.seek(0)
    return buffer


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@given(FILES)
def test_what_is_packed_comes_back(files: dict[str, BundleFile]) -> None:
    assert read_files(pack(files)) == files


def test_links_directories_and_run_bits_are_packed() -> None:
    files = {"d/run.sh": BundleFile(data=b"x", mode=0o600), "d/link": BundleFile(target="run.sh")}
    with tarfile.open(fileobj=pack(files, directories={"d": 0o777}, executable="d/run.sh")) as tar:
        found = {info.name: info for info in tar}
    assert found["d"].isdir()
    assert found["d"].mode == 0o777
    assert found["d/run.sh"].mode == 0o711
    assert found["d/link"].linkname == "run.sh"
    assert {info.uid for info in found.values()} == {0}


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd", "a/.."])
def test_a_name_that_leads_out_is_refused(name: str, tmp_path) -> None:
    target = tmp_path / "in"
    target.mkdir()
    with pytest.raises(ArchiveError, match="leads out"):
        extract(tar_of((member(name), b"data")), target)
    assert [path.name for path in tmp_path.rglob("*")] == ["in"]


def test_a_link_cannot_lead_a_later_entry_out(tmp_path) -> None:
    target, outside = tmp_path / "in", tmp_path / "outside"
    target.mkdir()
    outside.mkdir()
    hostile = tar_of(
        (member("door", tarfile.SYMTYPE, str(outside)), b""),
        (member("door/file"), b"escaped"),
        (member("hard", tarfile.LNKTYPE, "/etc/passwd"), b""),
        (member("fifo", tarfile.FIFOTYPE), b""),
        (member("device", tarfile.CHRTYPE), b""),
    )
    assert extract(hostile, target) == ["door", "hard", "fifo", "device"]
    assert not list(outside.iterdir())
    assert (target / "door/file").read_bytes() == b"escaped"


def test_an_entry_that_clashes_with_an_earlier_one_is_left_out(tmp_path) -> None:
    target = tmp_path / "in"
    target.mkdir()
    clashing = tar_of(
        (member("a"), b"first"),
        (member("a"), b"second"),
        (member("a/b"), b"below a file"),
        (member("d", tarfile.DIRTYPE), b""),
        (member("d"), b"a file for a directory"),
    )
    assert extract(clashing, target) == ["a", "a/b", "d"]
    assert (target / "a").read_bytes() == b"first"


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (ArchiveLimits(file=10), "file of more"),
        (ArchiveLimits(total=600), "larger than allowed"),
        (ArchiveLimits(entries=1), "entries"),
        (ArchiveLimits(name=2), "characters"),
    ],
)
def test_limits_hold(limits: ArchiveLimits, why: str) -> None:
    with pytest.raises(ArchiveError, match=why):
        read_files(tar_of((member("long"), b"x" * 100), (member("next"), b"")), limits)


def test_special_files_are_named_as_such() -> None:
    kinds = [
        entry.kind
        for entry in entries(tar_of((member("f", tarfile.FIFOTYPE), b""), (member("d", tarfile.DIRTYPE), b"")))
    ]
    assert kinds == [Kind.OTHER, Kind.DIRECTORY]


def test_a_file_that_is_cut_off_is_an_archive_error() -> None:
    whole = tar_of((member("f"), b"x" * 5000)).getvalue()
    with pytest.raises(ArchiveError):
        read_files(io.BytesIO(whole[:2000]))


@settings(max_examples=300)
@given(st.data())
def test_bytes_that_were_tampered_with_never_raise_anything_else(data: st.DataObject) -> None:
    whole = bytearray(tar_of((member("some/file"), b"x" * 700), (member("l", tarfile.SYMTYPE, "t"), b"")).getvalue())
    for _ in range(data.draw(st.integers(1, 5))):
        whole[data.draw(st.integers(0, 2600))] = data.draw(st.integers(0, 255))
    try:
        files = read_files(io.BytesIO(bytes(whole)))
    except ArchiveError:
        return
    assert all(".." not in name.split("/") and not name.startswith("/") for name in files)
