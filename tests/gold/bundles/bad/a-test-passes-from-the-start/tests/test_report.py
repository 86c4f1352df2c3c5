from pathlib import Path


def test_report():
    assert Path("/app/report.txt").read_text() == Path("/tests/expected.txt").read_text()


def test_data_is_as_it_was():
    assert Path("/app/data.txt").read_text().split()[:2] == ["ash", "3"]
