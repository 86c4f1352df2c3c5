import pathlib


def test_a_copies():
    pathlib.Path('/tmp/copy').write_text(pathlib.Path('/app/sum.txt').read_text())


def test_b_reads_the_copy():
    assert int(pathlib.Path('/tmp/copy').read_text()) == 65
