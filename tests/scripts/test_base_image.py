from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from envs_forge.sandbox.prerequisites import BASE_IMAGE, UPSTREAM_IMAGE
from scripts.conftest import run_script

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/base_image.sh"
TOOLS = (
    *("bash", "python3", "python", "pytest", "pip", "jq", "sqlite3", "git", "curl", "make", "gcc", "ps", "file"),
    *("tar", "gzip", "xz", "bzip2", "zip", "unzip", "patch", "update-ca-certificates"),
)


@pytest.fixture
def tag() -> Iterator[str]:
    name = f"envs-forge-test/base:{os.getpid()}"
    yield name
    subprocess.run(["docker", "image", "rm", name], capture_output=True, check=False)


def _config(tag: str) -> dict[str, object]:
    shown = run_script("docker", "image", "inspect", "--format", "{{json .Config}}", tag)
    config: dict[str, object] = json.loads(shown.stdout)
    return config


@pytest.mark.engine
def test_is_left_alone_when_it_is_current():
    assert run_script(SCRIPT).returncode == 0
    shown = run_script("docker", "image", "inspect", "--format", "{{.Id}}", BASE_IMAGE).stdout
    again = run_script(SCRIPT)
    assert (again.returncode, again.stderr) == (0, "")
    assert run_script("docker", "image", "inspect", "--format", "{{.Id}}", BASE_IMAGE).stdout == shown


@pytest.mark.engine
def test_holds_every_tool_and_says_what_it_is():
    script = f"for tool in {' '.join(TOOLS)}; do command -v $tool >/dev/null || echo $tool; done; pytest --version"
    shown = run_script("docker", "run", "--rm", "--network=none", BASE_IMAGE, "bash", "-c", script)
    assert shown.returncode == 0
    assert shown.stdout.split()[0] == "pytest", f"missing: {shown.stdout}"
    labels = _config(BASE_IMAGE)["Labels"]
    assert isinstance(labels, dict)
    assert "envs-forge.stand-in" in labels or labels["envs-forge.from"] == UPSTREAM_IMAGE


@pytest.mark.engine
@pytest.mark.slow
def test_the_kept_tar_serves_the_second_time_without_packages(tag, tmp_path):
    kept = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "envs-forge"
    if not list(kept.glob("base-*.tar")):
        pytest.skip("the base image came from a registry, no tar was made")
    without_packages = tmp_path / "bin"
    without_packages.mkdir()
    for name in ("apt-get", "mmdebstrap"):
        (without_packages / name).write_text("#!/bin/sh\necho called >&2; exit 1\n")
        (without_packages / name).chmod(0o755)
    env = {"PATH": f"{without_packages}:{os.environ['PATH']}", "ENVS_FORGE_UPSTREAM": "invalid.invalid/none:0"}
    made = run_script(SCRIPT, tag, env=env)
    assert made.returncode == 0, made.stderr
    assert "called" not in made.stderr
    assert _config(tag)["Cmd"] == ["bash"]


@pytest.mark.engine
@pytest.mark.slow
def test_is_built_on_the_upstream_image_where_there_is_one(tag):
    # The local base image plays the part of the registry's; its packages come from the network.
    made = run_script(SCRIPT, tag, env={"ENVS_FORGE_UPSTREAM": BASE_IMAGE})
    assert made.returncode == 0, made.stderr
    labels = _config(tag)["Labels"]
    assert isinstance(labels, dict)
    assert labels["envs-forge.from"] == BASE_IMAGE


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("apt-get") is None or os.geteuid() != 0, reason="needs apt and root")
def test_an_interrupted_bootstrap_leaves_no_half_tar(tag, tmp_path):
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "ENVS_FORGE_UPSTREAM": "invalid.invalid/none:0"}
    process = subprocess.Popen([SCRIPT, tag], env=env, stderr=subprocess.PIPE, start_new_session=True)
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=15)
    os.killpg(process.pid, 15)
    process.communicate(timeout=60)
    assert not list((tmp_path / "envs-forge").glob("*.tar"))
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


def test_the_base_image_map_and_the_scripts_mean_the_same_image():
    assert f"TAG=${{1:-{BASE_IMAGE}}}" in SCRIPT.read_text()
    assert f"UPSTREAM=${{ENVS_FORGE_UPSTREAM:-{UPSTREAM_IMAGE}}}" in SCRIPT.read_text()
    table = ROOT / "src/envs_forge/sandbox/images/base_images.toml"
    text = table.read_text()
    tomllib.loads(text)
    assert BASE_IMAGE in text
