import io
import json
import math
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs_forge.sandbox.reward import SIZE_LIMIT, Found, Reward, fetch, judge
from envs_forge.sandbox.verification import RewardFault

FRACTIONS = st.floats(0, 1)


def file(text: str | bytes) -> Found:
    data = text.encode() if isinstance(text, str) else text
    return Found(True, len(data), data[:SIZE_LIMIT])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("0\n", 0.0),
        (" 0.25 \r\n", 0.25),
        ("1.0", 1.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("5e-1", 0.5),
        ("+1", 1.0),
    ],
)
def test_a_number_in_range_is_a_reward(text: str, value: float) -> None:
    assert judge(file(text), None) == Reward(value)


def test_a_negative_zero_is_zero() -> None:
    reward = judge(file("-0.0"), None)
    assert isinstance(reward, Reward)
    assert math.copysign(1, reward.value) == 1


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", RewardFault.EMPTY),
        (" \n", RewardFault.EMPTY),
        ("nan", RewardFault.NOT_FINITE),
        ("-Infinity", RewardFault.NOT_FINITE),
        ("inf", RewardFault.NOT_FINITE),
        ("1e999", RewardFault.NOT_FINITE),
        ("-0.5", RewardFault.OUT_OF_RANGE),
        ("1.5", RewardFault.OUT_OF_RANGE),
        ("1.0000000000000002", RewardFault.OUT_OF_RANGE),
        ("1 0", RewardFault.UNPARSABLE),
        ("1_0", RewardFault.UNPARSABLE),
        ("0x1", RewardFault.UNPARSABLE),
        ("١", RewardFault.UNPARSABLE),
        ("pass", RewardFault.UNPARSABLE),
        ("1,0", RewardFault.UNPARSABLE),
        ("\ufeff1", RewardFault.UNPARSABLE),
        (b"\xff\xfe1\x00", RewardFault.UNPARSABLE),
        (b"1\x00", RewardFault.UNPARSABLE),
        ("1" + " " * SIZE_LIMIT, RewardFault.TOO_LARGE),
    ],
)
def test_anything_odd_in_the_text_is_a_fault(text: str | bytes, fault: RewardFault) -> None:
    assert judge(file(text), None) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", RewardFault.EMPTY),
        ("1", RewardFault.UNPARSABLE),
        ("[1]", RewardFault.UNPARSABLE),
        ("{}", RewardFault.UNPARSABLE),
        ('{"reward": "1"}', RewardFault.UNPARSABLE),
        ('{"reward": true}', RewardFault.UNPARSABLE),
        ('{"reward": null}', RewardFault.UNPARSABLE),
        ('{"reward": 1, "reward": 0}', RewardFault.UNPARSABLE),
        ('{"reward": 1', RewardFault.UNPARSABLE),
        ("[" * 60_000, RewardFault.UNPARSABLE),
        ('{"reward": NaN}', RewardFault.NOT_FINITE),
        ('{"reward": 1' + "0" * 400 + "}", RewardFault.NOT_FINITE),
        ('{"reward": 2}', RewardFault.OUT_OF_RANGE),
    ],
)
def test_anything_odd_in_the_json_is_a_fault(text: str, fault: RewardFault) -> None:
    assert judge(None, file(text)) == fault


def test_other_numbers_are_metrics_and_the_rest_is_dropped() -> None:
    parsed = judge(None, file('{"reward": 0.5, "speed": 3, "note": "x", "ok": true, "bad": NaN, "list": [1]}'))
    assert parsed == Reward(0.5, {"speed": 3.0})


def test_none_is_missing_and_two_must_agree() -> None:
    assert judge(None, None) == RewardFault.MISSING
    assert judge(file("1"), file('{"reward": 0}')) == RewardFault.CONFLICT
    assert judge(file("1"), file('{"reward": 1.0, "m": 2}')) == Reward(1.0, {"m": 2.0})
    assert judge(file("junk"), file('{"reward": 1}')) == RewardFault.UNPARSABLE
    assert judge(file("1"), file("{}")) == RewardFault.UNPARSABLE
    assert judge(Found(regular=False), file('{"reward": 1}')) == RewardFault.NOT_A_FILE


@given(FRACTIONS)
def test_every_fraction_comes_back_exactly(value: float) -> None:
    assert judge(file(repr(value)), file(json.dumps({"reward": value}))) == Reward(value)


@given(FRACTIONS, FRACTIONS)
def test_two_sources_are_never_a_choice(one: float, other: float) -> None:
    outcome = judge(file(repr(one)), file(json.dumps({"reward": other})))
    assert outcome == (Reward(one) if one == other else RewardFault.CONFLICT)


@given(st.binary(max_size=200) | st.text().map(str.encode))
def test_junk_is_a_fault_or_a_number_in_range(data: bytes) -> None:
    for outcome in (judge(file(data), None), judge(None, file(data))):
        assert isinstance(outcome, RewardFault) or 0.0 <= outcome.value <= 1.0


@given(st.floats(allow_nan=True) | st.integers())
def test_a_number_outside_the_range_is_never_a_reward(value: float) -> None:
    for outcome in (judge(file(str(value)), None), judge(None, file(json.dumps({"reward": value})))):
        assert isinstance(outcome, Reward) == (0 <= value <= 1)


class Hostile:
    """A sandbox that answers every `get` with the same tar."""

    def __init__(self, *infos: tarfile.TarInfo, data: bytes = b"") -> None:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for info in infos:
                tar.addfile(info, io.BytesIO(data))
        self.tar = buffer.getvalue()

    @contextmanager
    def get(self, path: str) -> Iterator[BinaryIO]:
        yield io.BytesIO(self.tar)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE])
def test_what_is_no_regular_file_is_no_reward(kind: bytes) -> None:
    info = tarfile.TarInfo("reward.txt")
    info.type, info.linkname = kind, "/app/reward"
    assert judge(fetch(Hostile(info), "reward.txt"), None) == RewardFault.NOT_A_FILE  # type: ignore[arg-type]


def test_a_file_that_claims_to_be_huge_is_not_read() -> None:
    info = tarfile.TarInfo("reward.txt")
    info.size = 2**40
    buffer = io.BytesIO(info.tobuf() + b"1" * 100_000)
    hostile = Hostile()
    hostile.tar = buffer.getvalue()
    assert judge(fetch(hostile, "reward.txt"), None) == RewardFault.TOO_LARGE  # type: ignore[arg-type]


def test_what_is_no_tar_is_no_reward() -> None:
    hostile = Hostile()
    hostile.tar = b"garbage" * 1000
    assert judge(fetch(hostile, "reward.txt"), None) == RewardFault.NOT_A_FILE  # type: ignore[arg-type]
