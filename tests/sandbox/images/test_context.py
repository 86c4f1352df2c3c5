import os

import pytest

from envs_forge.bundle.model import BundleFile
from envs_forge.sandbox.images.context import environment_files, write_context
from envs_forge.sandbox.images.tagging import image_tag


def test_files_links_and_modes_are_written(tmp_path) -> None:
    files = {
        "d/run me.sh": BundleFile(data=b"x", mode=0o755),
        "d/new\nline": BundleFile(data=b"\0\xff"),
        "link": BundleFile(target="d/run me.sh"),
        "dangling": BundleFile(target="../outside"),
    }
    write_context(files, tmp_path)
    assert (tmp_path / "d/run me.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "d/new\nline").read_bytes() == b"\0\xff"
    assert os.readlink(tmp_path / "link") == "d/run me.sh"  # noqa: PTH115
    assert os.readlink(tmp_path / "dangling") == "../outside"  # noqa: PTH115


@pytest.mark.parametrize(
    "files",
    [
        {"../x": BundleFile()},
        {"/x": BundleFile()},
        {"a": BundleFile(target="/tmp"), "a/b": BundleFile(data=b"escaped")},
        {"a": BundleFile(), "a/b": BundleFile()},
    ],
)
def test_nothing_is_written_outside_or_through_a_link(files: dict[str, BundleFile], tmp_path) -> None:
    target = tmp_path / "context"
    target.mkdir()
    with pytest.raises(ValueError, match=r"leaves|below"):
        write_context(files, target)
    assert [path.name for path in tmp_path.iterdir()] == ["context"]


def test_only_the_environment_counts() -> None:
    files = {
        "environment/Dockerfile": BundleFile(data=b"1"),
        "tests/test.sh": BundleFile(),
        "instruction.md": BundleFile(),
    }
    assert environment_files(files) == {"Dockerfile": BundleFile(data=b"1")}


def test_the_tag_depends_on_what_goes_into_the_build_and_on_nothing_else() -> None:
    files = {"Dockerfile": BundleFile(data=b"FROM a"), "x": BundleFile(data=b"1")}
    tag = image_tag(files, {"a": ""}, network=True)
    assert tag == image_tag(dict(reversed(files.items())), {"a": ""}, network=True)
    others = [
        image_tag({**files, "x": BundleFile(data=b"2")}, {"a": ""}, network=True),
        image_tag({**files, "x": BundleFile(data=b"1", mode=0o755)}, {"a": ""}, network=True),
        image_tag({**files, "x": BundleFile(target="1")}, {"a": ""}, network=True),
        image_tag({**files, "y": BundleFile()}, {"a": ""}, network=True),
        image_tag(files, {"a": "sha256:1"}, network=True),
        image_tag(files, {"a": ""}, network=False),
    ]
    assert len({tag, *others}) == 7
