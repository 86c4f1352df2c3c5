import pathlib


def test_total(total):
    assert total == 65


def test_total_is_read(total):
    assert total == sum(int(line.split()[1]) for line in pathlib.Path('/app/data.txt').read_text().splitlines())
