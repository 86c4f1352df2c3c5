def test_the_sum_of_all_numbers(total):
    assert total == 65
