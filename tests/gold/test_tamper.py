"""The battery is a battery: each hack pays where nothing protects the tests."""

import os
import subprocess
from pathlib import Path

import pytest

from envs_forge.bundle.reading import read_bundle
from envs_forge.gold.inspection import Inspection
from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.paths import named_paths
from envs_forge.gold.stages.reference import reference_of
from envs_forge.gold.state import Reference, capture
from envs_forge.gold.tamper.battery import battery, groups, script_of
from envs_forge.gold.tamper.stubs import stubs_for
from envs_forge.sandbox.verification import Isolation

from .tasks import task

PYTEST = task(
    "pytest",
    tests=(
        "#!/bin/bash\ncd /app && python3 -m pytest -q -p no:cacheprovider /tests/test_x.py && r=1 || r=0\n"
        "git -C /app diff > /dev/null 2>&1\n[ -e /logs/verifier/reward.txt ] || echo $r > /logs/verifier/reward.txt\n"
    ),
    **{"tests/test_x.py": "import json\n\n\ndef test_x():\n    assert open('/app/count.txt').read().strip() == '3'\n"},
)
NEEDS_ANOTHER_TASK = {
    "start-up files of shells",
    "a configuration of git that runs programs",
    "a repository whose configuration runs programs",
    "a process that writes a reward later",
    "a reward that is a pipe",
    "a configuration of pytest",
}
REPOSITORY = read_bundle(Path(__file__).parent / "bundles" / "sound" / "tests-run-git")


def test_every_hack_is_a_shell_script_with_a_name_and_a_group():
    hacks = battery()
    assert len(hacks) >= 22
    assert len({hack.name for hack in hacks}) == len(hacks)
    assert sorted(hack.name for group in groups().values() for hack in group) == sorted(hack.name for hack in hacks)
    for hack in hacks:
        subprocess.run(["bash", "-n", "-c", script_of([hack])], check=True, env={"PATH": os.environ["PATH"]})


@pytest.mark.engine
@pytest.mark.slow
def test_hacks_pay_where_the_tests_run_beside_the_agent(runtime):
    """Without `fresh` most of the battery works; a hack that never could would prove nothing."""
    prepared = runtime.prepare(PYTEST)
    paid = {}
    for hack in battery():
        with runtime.open(prepared) as work:
            work.exec(["/bin/sh", "-c", script_of([hack])], timeout=60, user="0:0", cwd="/app")
            paid[hack.name] = runtime.verify(prepared, work, isolation=Isolation.LIVE).reward
    held = {hack.name for hack in battery() if hack.fails_live}
    unpaid = {name for name, reward in paid.items() if reward != 1.0}
    assert held <= unpaid <= held | NEEDS_ANOTHER_TASK


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize(("isolation", "reward"), [(Isolation.LIVE, 1.0), (Isolation.FRESH, 0.0)])
def test_a_repository_runs_its_programs_only_beside_the_agent(isolation, reward, runtime):
    (hack,) = (hack for hack in battery() if hack.name == "a repository whose configuration runs programs")
    prepared = runtime.prepare(REPOSITORY)
    with runtime.open(prepared) as work:
        work.exec(["/bin/sh", "-c", script_of([hack])], timeout=60, user="0:0", cwd="/app")
        assert runtime.verify(prepared, work, isolation=isolation).reward == reward


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("group", groups())
def test_no_hack_pays_in_a_fresh_sandbox(group, runtime):
    prepared = runtime.prepare(PYTEST)
    with runtime.open(prepared) as work:
        work.exec(["/bin/sh", "-c", script_of(groups()[group])], timeout=60, user="0:0", cwd="/app")
        assert runtime.verify(prepared, work).reward == 0.0


def test_named_paths():
    bundle = task(
        instruction=(
            "Read `data.txt` and /app/in/a.csv, write `out/report.json`, 'the sum.txt' and /app/x. See http://a.b/c.\n"
            "Put the rest into notes.md, e.g. as in docs/old.md.\n"
        ),
        tests='#!/bin/bash\ncmp "/srv/with space/y.txt" $X/z\ncat /tests/q /logs/verifier/reward.txt /etc/app.conf\n',
    )
    assert named_paths(bundle, "/app") == [
        "/app/data.txt",
        "/app/out/report.json",
        "/app/the sum.txt",
        "/app/in/a.csv",
        "/app/x",
        "/srv/with space/y.txt",
        "/etc/app.conf",
        "/app/notes.md",
        "/app/docs/old.md",
    ]


def test_outputs_are_what_the_solution_makes_alike_each_time():
    reference = Reference(
        before={"/a": "1", "/b": None, "/c": "2", "/d": None},
        after={"/a": "1", "/b": "3", "/c": "4", "/d": None},
    )
    assert (reference.outputs, reference.inputs) == (["/b", "/c"], ["/a"])
    assert reference.differs({"/b": "5"})
    assert not reference.differs({"/b": "3", "/unknown": "9"})
    assert [stub.name for stub in stubs_for(reference)][-1] == "copies of the inputs"
    assert stubs_for(Reference(before={"/a": "1"}, after={"/a": "1"})) == []


@pytest.mark.engine
def test_the_reference_of_a_task(runtime):
    inspection = Inspection(task(), runtime, VerifyOptions(), cache_root=None, built=runtime.prepare(task()))
    reference = reference_of(inspection)
    assert (reference.outputs, reference.inputs) == (["/app/count.txt"], ["/app/data.txt"])
    with runtime.open(inspection.prepared) as work:
        work.exec(["sh", "-c", "printf ' 3\\n\\n' > /app/count.txt"], timeout=20)
        same = capture(work, ["/app/count.txt"])
        work.exec(["sh", "-c", "rm /app/count.txt; ln -s /app/data.txt /app/count.txt"], timeout=20)
        link = capture(work, ["/app/count.txt", "/nowhere/x"])
    assert not reference.differs(same)
    assert reference.differs(link)
    assert link["/nowhere/x"] is None
