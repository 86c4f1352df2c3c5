import subprocess
import sys

import pytest

from envs_forge.gold.options import VerifyOptions
from envs_forge.gold.variation import LOCALTIME, RUNS, Change, Openings, date_change, zone_file
from envs_forge.gold.verify import verify

from .tasks import task

DATED = task(
    "dated",
    dockerfile=(
        "FROM debian:bookworm-slim\nRUN apt-get update && apt-get install -y --no-install-recommends libfaketime\n"
        "WORKDIR /app\nCOPY data.txt /app/data.txt\n"
    ),
    tests=(
        '#!/bin/bash\n[ "$(tr -d " \\n" < /app/count.txt)" = 3 ] && [ "$(date +%Y)" = YEAR ] && r=1 || r=0\n'
        "echo $r > /logs/verifier/reward.txt\n"
    ).replace("YEAR", subprocess.run(["date", "+%Y"], capture_output=True, text=True, check=True).stdout.strip()),
)


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
def test_a_task_that_depends_on_the_date_gets_a_warning(runtime):
    verdict = verify(DATED, runtime, VerifyOptions(stages=("repeat",)))
    if verdict.decision == "unsupported" or verdict.stage == "build":
        pytest.skip(f"libfaketime cannot be installed here: {verdict.stages[-1].message}")
    assert (verdict.decision, verdict.stages[-1].warnings) == (
        "accepted",
        ("on another date the solution does not get the full reward",),
    )
