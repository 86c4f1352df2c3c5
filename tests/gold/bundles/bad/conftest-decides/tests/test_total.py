def test_total(total):
    assert total == 65
