import time
from datetime import UTC, datetime

import pytest

from envs_forge.sandbox.docker.oom import clock_skew


@pytest.mark.parametrize("shape", ["%Y-%m-%dT%H:%M:%S.%f000Z", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%SZ"])
def test_the_engines_clock_is_compared_with_ours(shape: str) -> None:
    ahead = datetime.fromtimestamp(time.time() + 3600, UTC).strftime(shape)
    assert 3590 < clock_skew(ahead) < 3610
