import os

from envs_forge.sandbox.docker.disk_watch import bytes_under


def test_files_are_counted_once_and_links_are_not_followed(tmp_path) -> None:
    big = tmp_path / "outside"
    big.write_bytes(b"x" * 1_000_000)
    root = tmp_path / "root"
    (root / "deep/er").mkdir(parents=True)
    (root / "deep/er/file").write_bytes(b"x" * 100_000)
    os.link(root / "deep/er/file", root / "again")
    (root / "link").symlink_to(big)
    (root / "loop").symlink_to(root)
    assert 100_000 <= bytes_under([str(root)], 10**9) < 200_000


def test_counting_stops_when_it_is_enough(tmp_path) -> None:
    for number in range(50):
        (tmp_path / str(number)).write_bytes(b"x" * 10_000)
    assert 20_000 < bytes_under([str(tmp_path)], 20_000) < 100_000


def test_what_is_not_there_counts_nothing(tmp_path) -> None:
    assert bytes_under([str(tmp_path / "gone")], 10) == 0
