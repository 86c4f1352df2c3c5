"""An export for readers that pull images names one in every task, and says in the index what was verified."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.prebuilt import set_docker_image
from envs_forge.bundle.reading import make_bundle, read_bundle
from envs_forge.errors import InvariantError, UserError
from envs_forge.export.prebuilt import check_prefix, with_image
from envs_forge.export.tasks import write_export

from .test_tasks import environment


def bundle(toml: str) -> Bundle:
    return make_bundle("a", {"instruction.md": BundleFile(data=b"Do.\n"), "task.toml": BundleFile(data=toml.encode())})


@pytest.mark.parametrize(
    "toml",
    [
        "",
        '# a comment\n[environment]\nmemory_mb = 512  # kept\n\n[metadata]\nx = 1\n',
        'environment = {cpus = 2}\n',
        '[environment]\ndocker_image = "old"\n[environment.env]\nA = "b"\n',
    ],
)  # fmt: skip
def test_only_the_image_changes(toml: str) -> None:
    changed = set_docker_image(bundle(toml), "r.example/x:1")
    assert changed.config.environment.docker_image == "r.example/x:1"
    table, old = tomllib.loads(changed.files["task.toml"].data.decode()), tomllib.loads(toml)
    assert table.pop("environment") == {**old.pop("environment", {}), "docker_image": "r.example/x:1"}
    assert table == old
    assert "# kept" in changed.files["task.toml"].data.decode() or "# kept" not in toml


def test_an_export_with_images(tmp_path: Path) -> None:
    task, line = environment("001-reduce-Log.triage")
    write_export(tmp_path / "export", [with_image(task, line, "r.example:5000/team")])
    (said,) = map(json.loads, (tmp_path / "export/index.jsonl").read_text().splitlines())
    assert said["content_hash"] == content_hash(task)
    assert said["image"] == f"r.example:5000/team/001-reduce-log-triage:{content_hash(task)[:12]}"
    written = read_bundle(tmp_path / "export" / said["path"])
    assert written.config.environment.docker_image == said["image"]
    with pytest.raises(InvariantError):
        write_export(tmp_path / "other", [(task, line.model_copy(update={"content_hash": "0"}))])


def test_a_verifier_that_would_pull_the_agents_image_keeps_its_task_as_it_is() -> None:
    task = bundle('[verifier]\nenvironment_mode = "separate"\n')
    _, line = environment("a")
    assert with_image(task, line, "r") == (task, line)


@pytest.mark.parametrize("prefix", ["r.example", "r.example:5000/a/b-c", "team/", "localhost:5000/x"])
def test_prefixes(prefix: str) -> None:
    assert check_prefix(prefix) == prefix.rstrip("/")


@pytest.mark.parametrize("prefix", ["", "Team", "a b", "a:tag/x/", "https://r.example", "a//b", "-a", "a/../b"])
def test_what_is_no_prefix(prefix: str) -> None:
    with pytest.raises(UserError, match="cannot begin"):
        check_prefix(prefix)
