"""The report on the logs that the agent saw, on others that it did not see, and on small ones made here."""

import json
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text())


def report(directory):
    done = subprocess.run(["/app/log-report", str(directory)], capture_output=True, timeout=60, cwd="/", check=True)
    return json.loads(done.stdout)


def same(got, wanted):
    times = [row.pop("p95") for row in got["slowest"]]
    wanted = json.loads(json.dumps(wanted))
    assert times == pytest.approx([row.pop("p95") for row in wanted["slowest"]], abs=0.0005)
    assert got == wanted


def line(addr="10.0.0.1", time="03/May/2025:10:00:00 +0000", request="GET /a HTTP/1.1", status=200, seconds="0.100"):
    return f'{addr} - - [{time}] "{request}" {status} 10 "-" "agent" {seconds}\n'


def write(directory, *lines):
    (directory / "access.log").write_text("".join(lines))


def test_saved_report():
    same(json.loads(Path("/app/report.json").read_text()), EXPECTED["app"])


def test_program_on_logs_it_has_not_seen():
    same(report(HERE / "other-logs"), EXPECTED["other"])


def test_hours_are_utc(tmp_path):
    write(
        tmp_path,
        line(time="03/May/2025:16:59:58 +0200", status=500),
        line(time="01/Jan/2025:00:10:00 +0530", status=599),
        line(time="31/Dec/2024:20:30:00 -0330", status=503),
        line(time="31/Dec/2024:20:30:00 -0330", status=499),
    )
    wanted = {"2025-05-03T14": 1, "2024-12-31T18": 1, "2025-01-01T00": 1}
    assert report(tmp_path)["server_errors_by_hour"] == wanted


def test_nearest_rank_and_ties(tmp_path):
    rows = [line(request=f"GET /{name}?x={n} HTTP/1.1", seconds=f"{n / 10:.3f}") for name in "ba" for n in range(1, 22)]
    few = [line(request="GET /few HTTP/1.1", seconds="9.000")] * 4
    enough = [line(request="GET /enough HTTP/1.1", seconds="8.000")] * 5
    write(tmp_path, *rows, *few, *enough)
    slowest = report(tmp_path)["slowest"]
    assert [(row["path"], row["requests"]) for row in slowest] == [("/enough", 5), ("/a", 21), ("/b", 21)]
    assert [row["p95"] for row in slowest] == pytest.approx([8.0, 2.0, 2.0])


def test_requests_without_a_path_count_elsewhere(tmp_path):
    odd = [line(request=request, status=400) for request in ("-", "GET /x", "GET /a b HTTP/1.1", "")]
    write(tmp_path, *(odd * 5), *[line()] * 5)
    got = report(tmp_path)
    assert got["status"] == {"200": 5, "400": 20}
    assert [row["path"] for row in got["slowest"]] == ["/a"]
    assert (got["lines"], got["malformed"], got["bytes"]) == (25, 0, 250)


def test_empty_directory(tmp_path):
    got = report(tmp_path)
    assert got == {
        "lines": 0,
        "malformed": 0,
        "clients": 0,
        "bytes": 0,
        "status": {},
        "server_errors_by_hour": {},
        "slowest": [],
    }
