"""Hits and near misses of the rules about leaks, drift and what the tests check."""

# ruff: noqa: E501

from __future__ import annotations

from .samples import CLEAN, DOCKERFILE, SOLVE, TEST, TOML, Changes, image, python_test, script

LONG_SOLVE = SOLVE + "# long enough to be no accident\n"
KEY = "sk-" + "a1B2" * 10
COMMANDS = "#!/bin/bash\nsort -u /app/data.txt\nwc -l /app/data.txt\nmv /app/data.txt /app/old.txt\n"

HITS: list[tuple[str, str, Changes, int | None]] = [
    ("solution-in-environment", "error", {**image("FROM debian:12\nCOPY . /app/\n"), "solution/solve.sh": LONG_SOLVE,
                                    "environment/tools/fix.sh": LONG_SOLVE}, None),
    ("solution-in-environment", "error", {**image("FROM debian:12\nCOPY tools/ /app/\n"), "solution/solve.sh": LONG_SOLVE,
                                    "environment/tools/fix.sh": LONG_SOLVE}, None),
    ("solution-in-environment", "warning", {"solution/solve.sh": LONG_SOLVE, "environment/solve.sh": LONG_SOLVE}, None),
    ("solution-in-environment", "warning", {**image("FROM debian:12\nCOPY . /app/\n"), "solution/solve.sh": LONG_SOLVE,
                                      "environment/solve.sh": LONG_SOLVE, "environment/.dockerignore": "*.sh\n"}, None),
    ("tests-in-environment", "warning", {"environment/check.sh": TEST}, None),
    ("image-uses-reserved-paths", "warning", image("FROM debian:12\nCOPY data.txt /tests/\n"), 2),
    ("image-uses-reserved-paths", "warning", image("FROM debian:12\nRUN mkdir -p /solution\n"), 2),
    ("instruction-names-tests", "warning", {"instruction.md": "Sort it.\nRun /tests/test.sh to see.\n"}, 2),
    ("instruction-names-tests", "warning", {"instruction.md": "Write 1 to reward.txt.\n"}, 1),
    ("answer-in-instruction", "warning", {"instruction.md": "Do it:\n" + COMMANDS, "solution/solve.sh": COMMANDS}, None),
    ("solution-writes-reward", "error", {"solution/solve.sh": "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n"}, 2),
    ("solution-reads-tests", "warning", {"solution/solve.sh": "#!/bin/sh\ncp /tests/expected.txt /app/sorted.txt\n"}, 2),
    ("secret-in-bundle", "warning", {"environment/data.txt": f"x\nkey={KEY}\n"}, 2),
    ("network-in-tests", "warning", script("curl -LsSf https://astral.sh/uv/install.sh | sh\n" + TEST), 2),
    ("network-in-tests", "warning", script("pip install pytest==8.3.5\n" + TEST), 2),
    ("network-in-tests", "warning", python_test("import requests\n\ndef test_x():\n    assert requests.get('https://a.org').ok\n"), 4),
    ("network-in-solution", "warning", {"solution/solve.sh": "#!/bin/bash\napt-get update\n"}, 2),
    ("unpinned-package", "warning", {**image("FROM debian:12\nCOPY r.txt .\nRUN pip install -r r.txt\n"),
                                     "environment/r.txt": "a==1\nflask  # newest\n"}, 2),
    ("unpinned-package", "warning", image("FROM debian:12\nRUN pip install --no-cache-dir \\\n    numpy\n"), 2),
    ("unpinned-package", "warning", image("FROM node:22\nRUN npm install -g typescript\n"), 2),
    ("unpinned-package", "warning", script("python3 -m pip install pytest\n" + TEST), 2),
    ("unpinned-package", "warning", script("uvx -p 3.12 -w pytest pytest /tests\n" + TEST), 2),
    ("clock-in-tests", "warning", python_test("import datetime\n\ndef test_x():\n    assert datetime.date.today().year\n"), 4),
    ("clock-in-tests", "warning", script("today=$(date +%F)\n" + TEST), 2),
    ("absolute-date", "warning",
     python_test("import datetime\n\ndef test_x():\n    assert datetime.date.today() < datetime.date(2031, 1, 1)\n"), 4),
    ("chance-in-tests", "warning", python_test("import random\n\ndef test_x():\n    assert random.randint(1, 6)\n"), 4),
    ("chance-in-tests", "warning", script("echo $RANDOM > /tmp/x\n" + TEST), 2),
    ("chance-in-tests", "warning", script("shuf /app/data.txt > /tmp/x\n" + TEST), 2),
    ("timing-in-tests", "warning",
     python_test("import time\n\ndef test_x():\n    start = time.monotonic()\n    assert time.monotonic() - start < 1\n"), 5),
    ("unstated-path", "warning", script("test -f /app/secret_name.csv\n" + TEST), 2),
    ("unstated-path", "warning", python_test("def test_x():\n    assert open('/srv/report.json').read() == 'x'\n"), 2),
    ("existence-only", "warning",
     python_test("from pathlib import Path\n\ndef test_x():\n    p = Path('/app/count.txt')\n    assert p.exists() and p.is_file()\n"), 5),
    ("no-assertion", "warning", python_test("def test_x():\n    print(open('/app/count.txt').read())\n"), 1),
    ("pytest-not-installed", "warning", {**python_test("def test_x():\n    assert 1\n"), "environment/Dockerfile": DOCKERFILE}, 2),
    ("path-of-author", "warning", script("cat /Users/jane/Desktop/data.csv\n" + TEST), 2),
    ("tests-leave-early", "warning", script("echo 1 > /logs/verifier/reward.txt\nexit 0\n" + TEST), 3),
]  # fmt: skip

MISSES: list[tuple[str, Changes]] = [
    ("solution-in-environment", {"solution/solve.sh": "#!/bin/sh\ntrue\n", "environment/noop.sh": "#!/bin/sh\ntrue\n"}),
    ("tests-in-environment", {"environment/values.csv": "x" * 99, "tests/values.csv": "x" * 99}),
    ("image-uses-reserved-paths", image("FROM debian:12\nCOPY data.txt /app/tests/\nRUN mkdir /app/solution /tests-data\n")),
    ("instruction-names-tests", {"instruction.md": "Make the tests in /app/tests pass; find a solution. /solutions.txt\n"}),
    ("answer-in-instruction", {"instruction.md": "sort -u /app/data.txt\nthen\nmv /app/data.txt /app/old.txt\n",
                               "solution/solve.sh": COMMANDS}),
    ("solution-writes-reward", {"solution/solve.sh": "#!/bin/sh\n# > /logs/verifier/reward.txt is the tests' own\n"
                                                     "echo 1 > /app/reward.txt\n"}),
    ("solution-reads-tests", {"solution/solve.sh": "#!/bin/sh\ncp /solution/fixed.c /app/tests/x.c\nls /app/tests\n"}),
    ("secret-in-bundle", {"environment/data.txt": "sk-short task-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"}),
    ("network-in-tests", script("curl -s http://localhost:8080/health http://api:80/x http://db\npip --version\ngit -C /app log\n" + TEST)),
    ("network-in-tests", python_test("import requests\n\ndef test_x():\n    assert requests.get('http://127.0.0.1:80').ok\n")),
    ("network-in-solution", {"solution/solve.sh": "#!/bin/bash\napt-get update\n",
                             "task.toml": TOML.replace("no-network", "public")}),
    ("unpinned-package", image("FROM debian:12\nRUN apt-get install -y jq && pip install -r requirements.txt numpy==2.1 ./x\n")),
    ("unpinned-package", image("FROM node:22\nRUN npm install && npm install -g typescript@5.4.2\n")),
    ("unpinned-package", {**image("FROM debian:12\nCOPY requirements.txt .\nRUN pip install -r requirements.txt\n"),
                          "environment/requirements.txt": "# flask\nflask==3.0.0\nx[y]>=1\n-e .\n", "environment/notes.txt": "flask\n"}),
    ("unpinned-package", script("uvx -p 3.12 -w pytest==8.3.5 pytest /tests\n" + TEST)),
    ("clock-in-tests", script("date -d 2020-01-01 +%s\ndate -r /app/data.txt\n" + TEST)),
    ("clock-in-tests", python_test("import datetime\n\ndef test_x():\n    assert datetime.date(2020, 1, 1).year == 2020\n")),
    ("clock-in-tests", python_test("import time\n\ndef test_x():\n    end = time.time() + 5\n    while time.time() < end:\n        assert ready('/app/count.txt')\n")),
    ("absolute-date", python_test("def test_x():\n    assert open('/app/count.txt').read() == '2025-01-01'\n")),
    ("chance-in-tests", python_test("import random\nrandom.seed(1)\n\ndef test_x():\n    assert random.randint(1, 6)\n")),
    ("chance-in-tests", script("RANDOM=42\necho $RANDOM > /tmp/x\n" + TEST)),
    ("timing-in-tests", python_test("def test_x():\n    assert timeout_of('/app/count.txt') == 5\n")),
    ("unstated-path", script("cmp /app/count.txt /app/data.txt\ngrep x /usr/lib/os-release /tmp/x /tests/y\n" + TEST)),
    ("unstated-path", {**script("test -f /app/made.csv\n" + TEST), "environment/setup.sh": "touch /app/made.csv\n"}),
    ("existence-only", python_test("from pathlib import Path\n\ndef test_x():\n    p = Path('/app/count.txt')\n"
                               "    assert p.exists()\n    assert p.read_text() == '2'\n")),
    ("existence-only", python_test("from pathlib import Path\n\ndef test_x():\n    assert not Path('/app/count.txt').exists()\n")),
    ("no-assertion", python_test("from helpers import check_count\n\ndef test_x():\n    check_count('/app/count.txt')\n")),
    ("no-assertion", python_test("import pytest\n\ndef test_x():\n    with pytest.raises(OSError):\n        open('/x')\n")),
    ("pytest-not-installed", {**python_test("def test_x():\n    assert 1\n"), "environment/Dockerfile": "FROM someone/image:1\n"}),
    ("path-of-author", script("cat /home/user/projects/x /home/agent/src/y\n" + TEST)),
    ("tests-leave-early", script("if [ ! -d /app ]; then\n  exit 1\nfi\n" + TEST + "exit 0\n")),
    ("unstated-path", CLEAN),
]  # fmt: skip
