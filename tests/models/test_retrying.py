import pytest

from envs_forge.models.retrying import retry_after


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "-1",
        "nan",
        "inf",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 2020 00:00:00 +9999999",
    ],
)
def test_a_wait_that_is_none_is_not_waited_for(text):
    assert not retry_after({"retry-after": text})
