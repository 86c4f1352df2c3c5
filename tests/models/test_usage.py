import pytest

from envs_forge.models.usage import Usage, UsageTotal, usage_of

GOOD = {"prompt_tokens": 5, "completion_tokens": 3}


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        {},
        {"prompt_tokens": 5},
        GOOD | {"prompt_tokens": 0},
        GOOD | {"prompt_tokens": -5},
        GOOD | {"prompt_tokens": "5"},
        GOOD | {"prompt_tokens": True},
        GOOD | {"completion_tokens": 3.5},
        GOOD | {"completion_tokens": 0},
        GOOD | {"total_tokens": 9},
        GOOD | {"total_tokens": "many"},
        GOOD | {"prompt_tokens": float("nan")},
        GOOD | {"prompt_tokens": 2**40 + 1},
        GOOD | {"completion_tokens": 10**30},
        GOOD | {"prompt_tokens": 2**62, "completion_tokens": 2**62, "total_tokens": 2**63},
    ],
)
def test_what_cannot_be_true_is_unknown_and_never_nought(raw):
    assert usage_of(raw, answered=True) == Usage()


def test_a_part_beyond_all_bounds_is_unknown_alone():
    raw = GOOD | {
        "prompt_tokens_details": {"cached_tokens": 10**30},
        "completion_tokens_details": {"reasoning_tokens": -1},
    }
    assert usage_of(raw, answered=True) == Usage(prompt_tokens=5, completion_tokens=3)


def test_no_tokens_for_no_answer_can_be_true():
    assert usage_of(GOOD | {"completion_tokens": 0}, answered=False).completion_tokens == 0


def test_reasoning_that_the_completion_leaves_out_is_added():
    raw = GOOD | {"total_tokens": 12, "completion_tokens_details": {"reasoning_tokens": 4}}
    usage = usage_of(raw, answered=True)
    assert (usage.completion_tokens, usage.reasoning_tokens) == (7, 4)


def test_parts_larger_than_the_whole_are_unknown_alone():
    raw = GOOD | {"prompt_tokens_details": {"cached_tokens": 6}, "completion_tokens_details": {"reasoning_tokens": 4}}
    assert usage_of(raw, answered=True) == Usage(prompt_tokens=5, completion_tokens=3)


def test_totals_say_what_they_lack():
    total = UsageTotal().plus(Usage(prompt_tokens=5, completion_tokens=3, cached_tokens=2))
    assert total.complete
    total = total.plus(Usage()).plus_unknown(2).plus(Usage(prompt_tokens=1, completion_tokens=1))
    assert (total.calls, total.unknown_calls, total.complete) == (5, 3, False)
    assert (total.prompt_tokens, total.completion_tokens, total.cached_tokens, total.reasoning_tokens) == (
        6,
        4,
        2,
        None,
    )
    assert not UsageTotal().complete
