"""An export read by other trainers' own readers of Harbor tasks.

verifiers: set VERIFIERS_PYTHON to a Python 3.12 that has `verifiers[harbor]==0.4.*`.
SkyRL: its reader is in no package. Set SKYRL_CHECKOUT to a checkout of its repository, and SKYRL_PYTHON to a Python
that has what its module `dataset.py` imports (loguru).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from envs_forge.bundle import read_bundle
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import make_bundle
from envs_forge.errors import PrerequisiteError
from envs_forge.export.prebuilt import with_image
from envs_forge.export.tasks import write_export
from envs_forge.sandbox.images.model import BuildFault
from envs_forge.sandbox.runtime import open_runtime

from .samples import line_of

VERIFIERS = os.environ.get("VERIFIERS_PYTHON", "")
SKYRL = os.environ.get("SKYRL_CHECKOUT", "")
needs_verifiers = pytest.mark.skipif(
    not VERIFIERS, reason="VERIFIERS_PYTHON is not set to a Python that has verifiers[harbor] 0.4"
)
needs_skyrl = pytest.mark.skipif(not SKYRL, reason="SKYRL_CHECKOUT is not set to a checkout of SkyRL's repository")
SEEDS = Path(__file__).parents[2] / "seeds"
TASKS = ("60-audit-count-lines", "69-incident-make-executable")
PREFIX = "registry.example/team"
LOAD = """
import json, sys
from verifiers.v1.tasksets.harbor import HarborConfig, HarborTaskset

tasks = HarborTaskset(HarborConfig(**json.loads(sys.argv[1]))).load()
print(json.dumps([[t.data.name, t.data.image, t.data.prompt, t.data.network_allow, t.data.resources.memory]
                  for t in tasks]))
"""
GRADE = """
import asyncio, json, sys
from pathlib import Path
import verifiers.v1 as vf
from verifiers.v1.runtimes import make_runtime
from verifiers.v1.runtimes.docker import DockerConfig
from verifiers.v1.state import state_cls
from verifiers.v1.tasksets.harbor import HarborConfig, HarborTaskset
from verifiers.v1.tasksets.harbor.taskset import make_tar
from verifiers.v1.trace import Trace, TraceTask
from verifiers.v1.utils.compile import resolve_runtime_config

SOLVE = "mkdir /solution && tar -xzf /tmp/solution.tgz -C /solution && bash /solution/solve.sh"

async def grade(task, oracle):
    asked = DockerConfig()
    agent = vf.AgentInfo(config=vf.AgentConfig(runtime=asked), name="oracle", trainable=False)
    seen = TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash)
    trace = Trace(task=seen, state=state_cls(type(task))(), agent=agent)
    runtime = make_runtime(resolve_runtime_config(asked, task), name=f"forge-{task.data.idx}-{int(oracle)}")
    await runtime.start()
    try:
        await task.setup(runtime)
        if oracle:
            await runtime.write("/tmp/solution.tgz", make_tar(Path(task.data.task_dir) / "solution"))
            assert (await runtime.run(["sh", "-c", SOLVE], {})).exit_code == 0
        await task.score(trace, runtime)
        return trace.reward
    finally:
        await runtime.stop()

async def main():
    tasks = HarborTaskset(HarborConfig(**json.loads(sys.argv[1]))).load()
    print(json.dumps([[await grade(task, False), await grade(task, True)] for task in tasks]))

asyncio.run(main())
"""
READ = """
import importlib.util, json, sys

spec = importlib.util.spec_from_file_location("dataset", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(json.dumps(list(module.HarborTaskDataset([sys.argv[2]]))))
"""


def bundles(*, network: str = "no-network") -> list[Bundle]:
    """Bundled seeds that ask for such a network."""
    found = []
    for bundle in (read_bundle(SEEDS / name) for name in TASKS):
        toml = bundle.files["task.toml"].data.replace(b"no-network", network.encode())
        found.append(make_bundle(bundle.id, {**bundle.files, "task.toml": BundleFile(data=toml)}))
    return found


def export(target: Path, own: list[Bundle], prefix: str | None = None) -> list[str]:
    """Write an export; names of the images that it asks for."""
    pairs = [(bundle, line_of(bundle)) for bundle in own]
    if prefix is not None:
        pairs = [with_image(*pair, prefix) for pair in pairs]
    write_export(target, pairs)
    return [line.image or "" for _, line in pairs]


def ask(python: str, code: str, *arguments: str, home: Path | None = None) -> Any:
    """What a script prints last, as JSON."""
    env = {**os.environ, "HARBOR_TELEMETRY": "0", **({} if home is None else {"HOME": str(home)})}
    command = [python, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=240, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def published(folder: Path, tasks: Path) -> Path:
    """A git repository with the tasks and a registry file that names it, as a team would publish an export."""
    repository = folder / "repository"
    shutil.copytree(tasks, repository / "tasks")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-C", str(repository)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "tasks"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    url = repository.as_uri()
    rows = [{"name": path.name, "git_url": url, "path": f"tasks/{path.name}"} for path in sorted(tasks.iterdir())]
    registry = folder / "registry.json"
    registry.write_text(json.dumps([{"name": "forge", "version": "1.0", "description": "", "tasks": rows}]))
    return registry


@needs_verifiers
def test_verifiers_reads_a_published_export_and_one_in_harbors_cache(tmp_path: Path) -> None:
    images = export(tmp_path / "export", bundles(), PREFIX)
    registry = published(tmp_path, tmp_path / "export" / "tasks")
    asked = {"dataset": "forge@1.0", "registry_path": str(registry)}
    read = ask(VERIFIERS, LOAD, json.dumps(asked), home=tmp_path)
    assert [row[0] for row in read] == [f"envs-forge/{name}" for name in TASKS]
    assert [row[1] for row in read] == images
    assert [row[2] for row in read] == [bundle.instruction.strip() for bundle in bundles()]
    assert [row[3:] for row in read] == [[[], 0.5]] * 2
    (tmp_path / ".cache" / "harbor" / "forge").symlink_to(tmp_path / "export" / "tasks")
    assert ask(VERIFIERS, LOAD, json.dumps({"dataset": "forge"}), home=tmp_path) == read


@needs_verifiers
def test_verifiers_takes_no_task_whose_image_has_to_be_built(tmp_path: Path) -> None:
    export(tmp_path / "export", bundles())
    registry = published(tmp_path, tmp_path / "export" / "tasks")
    asked = json.dumps({"dataset": "forge", "registry_path": str(registry)})
    with pytest.raises(RuntimeError, match="needs a pullable docker_image"):
        ask(VERIFIERS, LOAD, asked, home=tmp_path)


@needs_verifiers
@pytest.mark.engine
def test_verifiers_grades_in_its_own_container_as_we_do(tmp_path: Path) -> None:
    """With a public network: its filter needs an image of its own, which cannot be pulled everywhere."""
    own = bundles(network="public")
    images = export(tmp_path / "export", own, PREFIX)
    registry = published(tmp_path, tmp_path / "export" / "tasks")
    try:
        opened = open_runtime("docker")
    except PrerequisiteError as error:
        pytest.skip(str(error))
    with opened as runtime:
        for bundle, image in zip(own, images, strict=True):
            prepared = runtime.prepare(bundle)
            assert not isinstance(prepared, BuildFault), prepared
            subprocess.run(["docker", "tag", prepared.image.id, image], check=True)
    try:
        asked = json.dumps({"dataset": "forge", "registry_path": str(registry)})
        assert ask(VERIFIERS, GRADE, asked, home=tmp_path) == [[0.0, 1.0]] * 2
    finally:
        subprocess.run(["docker", "rmi", *images], check=True, capture_output=True)


@needs_skyrl
def test_skyrl_reads_an_export_as_it_is(tmp_path: Path) -> None:
    export(tmp_path / "export", bundles())
    reader = Path(SKYRL) / "examples" / "train_integrations" / "harbor" / "dataset.py"
    python = os.environ.get("SKYRL_PYTHON", sys.executable)
    rows = ask(python, READ, str(reader), str(tmp_path / "export" / "tasks"))
    assert sorted(Path(row["prompt"]).name for row in rows) == list(TASKS)
    assert all((Path(row["prompt"]) / "instruction.md").is_file() for row in rows)
