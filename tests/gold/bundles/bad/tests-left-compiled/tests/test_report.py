import pathlib


def test_the_report_has_all_lines():
    assert pathlib.Path('/app/report.txt').read_text() == pathlib.Path('/tests/expected.txt').read_text()
