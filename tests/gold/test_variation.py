import subprocess
import sys

import pytest

from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.variation import LOCALTIME, RUNS, Change, Openings, date_change, zone_file
from envs_forge.gold.verify import verify
from envs_forge.run.parts import cores

from .tasks import SOUND, task

YEAR = subprocess.run(["date", "+%Y"], capture_output=True, text=True, check=True).stdout.strip()
TESTS = (
    '#!/bin/bash\n[ "$(tr -d " \\n" < /app/count.txt)" = 3 ] && [ "$(CHECK)" ] && r=1 || r=0\n'
    "echo $r > /logs/verifier/reward.txt\n"
)
DATED = task("dated", tests=TESTS.replace('"$(CHECK)"', f'"$(date +%Y)" = {YEAR}'))
CULPRITS = {
    "time zone (+13:45)": '"$(env -i /bin/date +%z)" = +0000',
    "PYTHONHASHSEED (1)": '-z "$PYTHONHASHSEED"',
    "LANG (C.UTF-8)": '-z "$LANG"',
    "hostname (a-quite-other-host)": '"$(uname -n)" = forge',
    "test order (the last first)": '-z "$PYTEST_ADDOPTS"',
    "cpu count (1)": '"$(nproc)" != 1',
}
"""What a verdict names → what must hold for the tests to pass."""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the zone with the C library of Linux")
@pytest.mark.parametrize(("seconds", "shown"), [(13 * 3600 + 2700, "+1345"), (-11 * 3600 - 1800, "-1130")])
def test_zone_files_are_read_by_the_c_library(seconds, shown, tmp_path):
    (tmp_path / "zone").write_bytes(zone_file(seconds))
    command = ["date", "-d", "@0", "+%z"]
    done = subprocess.run(command, env={"TZ": f":{tmp_path}/zone"}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == shown


def test_nothing_that_is_set_is_changed():
    shut = Openings(variables=frozenset({"PYTHONHASHSEED", "PYTEST_ADDOPTS"}), time_zone=False, cores=1)
    assert [[change.name for change in run if shut.allow(change)] for run in RUNS] == [
        ["LANG", "hostname", "cpu share"],
        ["LANG", "hostname", "cpu share"],
    ]
    unset = Openings(variables=frozenset({"PATH"}), time_zone=True, cores=2)
    assert all(unset.allow(change) for run in RUNS for change in run)


def test_a_date_needs_the_library_and_no_other_preload():
    library = "/usr/lib/x/faketime/libfaketime.so.1"
    assert date_change(Openings(frozenset(), True)) is None
    assert date_change(Openings(frozenset({"LD_PRELOAD"}), True, faketime=library)) is None
    change = date_change(Openings(frozenset(), True, faketime=library))
    assert isinstance(change, Change)
    assert change.env["FAKETIME"].startswith("+")
    assert change.files is None
    assert date_change(Openings(frozenset(), True, faketime="/x.so", brought=b"\x7fELF")).files == {"/x.so": b"\x7fELF"}


def test_the_time_zone_is_changed_for_programs_without_variables_too():
    assert [run[0].files is not None and LOCALTIME in run[0].files for run in RUNS] == [True, True]


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.parametrize("culprit", CULPRITS)
def test_what_makes_a_difference_is_named(culprit, runtime):
    if culprit.startswith("cpu") and cores() == 1:
        pytest.skip("there is one processor")
    bundle = task("varied", tests=TESTS.replace('"$(CHECK)"', CULPRITS[culprit]))
    verdict = verify(bundle, runtime, VerifyOptions(stages=("repeat",)))
    assert (verdict.stage, verdict.code) == ("repeat", "flaky")
    assert verdict.stages[-1].message.endswith(f"depends on {culprit}")


@pytest.mark.engine
@pytest.mark.slow
def test_a_task_that_depends_on_the_date_gets_a_warning(runtime):
    verdict = verify(DATED, runtime, VerifyOptions(stages=("repeat",)))
    facts = verdict.stages[-1].facts
    if any(line.startswith("date: ") for line in facts["not varied"]):
        pytest.skip("there is no libfaketime on this machine")
    assert facts["varied"][-1] == ["date (431 days later)"]
    assert (verdict.decision, verdict.stages[-1].warnings) == (
        "accepted",
        ("on another date the solution does not get the full reward",),
    )


@pytest.mark.engine
@pytest.mark.slow
def test_what_the_image_sets_stays_and_is_told(runtime):
    bundle = task("set", dockerfile=f"{SOUND['environment/Dockerfile']}ENV LANG=C.UTF-8 TZ=Asia/Tokyo LD_PRELOAD=\n")
    facts = verify(bundle, runtime, VerifyOptions(stages=("repeat",))).stages[-1].facts
    names = [change.partition(" (")[0] for run in facts["varied"] for change in run]
    assert not {"LANG", "time zone", "date"} & set(names)
    assert {line.partition(":")[0] for line in facts["not varied"]} >= {"LANG", "time zone", "date"}
