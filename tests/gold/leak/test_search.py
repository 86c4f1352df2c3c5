"""Which contents of an image are leaks, and which a sound task may have there."""

import base64
import gzip

import pytest

from envs_forge.gold.leak.index import ContentIndex
from envs_forge.gold.leak.search import find_leaks
from envs_forge.gold.leak.secrets import Kind, secrets_of

from ..tasks import task

SOLUTION = """#!/bin/bash
set -euo pipefail
cd /app
awk -F, '$3 > 100 { print $1 "," $2 }' orders.csv | sort -t, -k2,2nr > report.csv
sed -i 's/^threshold = .*/threshold = 100/' settings.ini
sqlite3 shop.db 'update totals set checked = 1 where day = date(now)'
"""
TESTS = """import csv
import pathlib


def test_report_has_the_big_orders_in_falling_order():
    rows = list(csv.reader(pathlib.Path("/app/report.csv").open()))
    assert [row[0] for row in rows] == ["o-117", "o-93", "o-12"]


def test_settings_have_the_new_threshold():
    assert "threshold = 100" in pathlib.Path("/app/settings.ini").read_text()
"""
ANSWER = "order,total\no-117,4410.25\no-93,3990.00\no-12,2000.75\nsum of all the big orders: 10401.00\n"


def made(**changes):
    files = {"solution": SOLUTION, "tests/test_outputs.py": TESTS, "tests/expected.csv": ANSWER}
    return task("orders", **{**files, **changes})


def leaks(files, bundle=None):
    bundle = bundle or made()
    index = ContentIndex.of(
        [(path, data if isinstance(data, bytes) else data.encode()) for path, data in files.items()]
    )
    return find_leaks(secrets_of(bundle), [index], bundle.instruction)


def alarms(files, bundle=None):
    return [(leak.secret.path, leak.secret.kind) for leak in leaks(files, bundle) if leak.suspicious]


@pytest.mark.parametrize(
    "content",
    [
        SOLUTION,
        "# notes\n" + SOLUTION + "\n# the end\n",
        SOLUTION.replace("\n", "\r\n"),
        SOLUTION.replace("cd /app\n", ""),
        "\n".join("    " + line for line in SOLUTION.splitlines()),
        base64.b64encode(SOLUTION.encode()),
        gzip.compress(SOLUTION.encode()),
        SOLUTION.encode().hex(),
        b'DATA = "' + base64.b64encode(gzip.compress(SOLUTION.encode())) + b'"\n',
    ],
)
def test_a_solution_is_found_in_whatever_wrapping(content):
    assert alarms({"usr/share/doc/x": content}) == [("solution/solve.sh", Kind.SOLUTION)]


def test_most_of_a_solution_is_found_too():
    without_one = "\n".join(line for line in SOLUTION.splitlines() if "sqlite3" not in line)
    assert alarms({"opt/x.sh": without_one}) == [("solution/solve.sh", Kind.SOLUTION)]
    assert alarms({"opt/x.sh": SOLUTION.splitlines()[3] + "\n"}) == []


def test_tests_are_found():
    assert alarms({"app/.hidden/t.py": TESTS}) == [("tests/test_outputs.py", Kind.TESTS)]


def test_a_name_can_hold_the_answer():
    line = b"sum of all the big orders: 10401.00"
    bundle = made(**{"tests/expected.csv": line.decode() + "\n"})
    assert alarms({f"opt/{base64.urlsafe_b64encode(line).decode()}": "x"}, bundle) == [
        ("tests/expected.csv", Kind.DATA)
    ]


def test_an_expected_answer_at_a_place_that_nobody_named():
    assert alarms({"var/cache/.x": ANSWER}) == [("tests/expected.csv", Kind.DATA)]
    assert alarms({"opt/blob": base64.b64encode(ANSWER.encode())}) == [("tests/expected.csv", Kind.DATA)]


def test_short_and_common_content_is_no_alarm():
    short = made(**{"tests/expected.csv": "42\n", "solution": "#!/bin/bash\necho 42 > /app/x\n"})
    assert alarms({"etc/answer": "42\n", "opt/run.sh": "#!/bin/bash\nset -euo pipefail\necho 42\n"}, short) == []
    boilerplate = "#!/bin/bash\nset -euo pipefail\nmkdir -p /logs/verifier\nimport pathlib\nfrom pathlib import Path\n"
    assert alarms({"opt/run.sh": boilerplate}) == []


def test_an_input_of_which_the_tests_keep_a_copy_is_no_alarm():
    rows = "".join(f"row number {i},with some text {i * 7}\n" for i in range(30))
    bundle = made(**{"environment/rows.csv": rows, "tests/rows.csv": rows})
    assert alarms({"srv/rows.csv": rows}, bundle) == []
    assert [leak.secret.path for leak in leaks({"srv/rows.csv": rows}, bundle)] == ["tests/rows.csv"]
    assert alarms({"opt/expected/rows.csv": rows}, bundle) == [("tests/rows.csv", Kind.DATA)]


@pytest.mark.parametrize(
    ("instruction", "path"),
    [
        ("Restore the report from /app/backups/old.tar.gz.\n", "app/backups/old.tar.gz"),
        ("One of the files below /srv/archive has the totals.\n", "srv/archive/2020/a.gz"),
        ("Somebody lost a commit of the git repository in /app. Recover the file.\n", "app/.git/objects/ab/cdef"),
    ],
)
def test_data_at_a_place_that_the_task_names_is_meant(instruction, path):
    bundle = made(instruction=instruction)
    assert alarms({path: gzip.compress(ANSWER.encode())}, bundle) == []
    assert alarms({path: gzip.compress(SOLUTION.encode())}, bundle) == [("solution/solve.sh", Kind.SOLUTION)]


def test_a_solution_that_rewrites_a_file_with_little_changed_is_no_alarm():
    program = [f"def function_{i}(argument):\n    return argument + {i} * 17\n" for i in range(20)]
    broken = "".join(program)
    fixed = broken.replace("argument + 7 * 17", "argument - 7 * 17")
    bundle = made(
        **{
            "environment/app.py": broken,
            "solution": f"#!/bin/bash\ncat > /app/app.py <<'EOF'\n{fixed}EOF\n",
        }
    )
    assert alarms({"app/app.py": broken}, bundle) == []
    assert alarms({"app/app.py": broken, "root/old": fixed}, bundle) == []
    script = bundle.files["solution/solve.sh"].data
    assert alarms({"root/old": script}, bundle) == [("solution/solve.sh", Kind.SOLUTION)]


def test_a_file_that_the_solution_leaves_as_it_is_is_no_alarm():
    helper = "".join(f"def helper_{i}(value):\n    return value * {i}\n" for i in range(9))
    bundle = made(**{"environment/helper.py": helper, "solution/helper.py": helper})
    assert alarms({"app/helper.py": helper}, bundle) == []
    assert alarms({"app/.b64": base64.b64encode(helper.encode())}, bundle) == [("solution/helper.py", Kind.SOLUTION)]


def test_tests_in_the_environment_are_found_though_they_lie_there_openly():
    bundle = made(**{"environment/hidden_test.py": TESTS})
    assert alarms({"app/hidden_test.py": TESTS}, bundle) == [("tests/test_outputs.py", Kind.TESTS)]


def test_an_index_survives_the_disk(tmp_path):
    index = ContentIndex.of([("a/ü", SOLUTION.encode()), ("b", TESTS.encode())])
    index.save(tmp_path / "x" / "i.npz")
    again = ContentIndex.load(tmp_path / "x" / "i.npz")
    wanted = secrets_of(made())[0].lines
    assert again.occurrences(wanted) == index.occurrences(wanted) == {"a/ü": set(wanted)}
    (tmp_path / "x" / "i.npz").write_bytes(b"PK\x03\x04 no")
    assert ContentIndex.load(tmp_path / "x" / "i.npz") is None
    assert ContentIndex.load(tmp_path / "none") is None
    assert ContentIndex.of([]).occurrences(wanted) == {}
