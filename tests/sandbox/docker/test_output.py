from hypothesis import given
from hypothesis import strategies as st

from envs_forge.sandbox.docker.output import HEADER, Output

FRAMES = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=50)))


def stream(frames: list[tuple[int, bytes]]) -> bytes:
    return b"".join(HEADER.pack(kind, len(data)) + data for kind, data in frames)


@given(FRAMES, st.lists(st.integers(1, 20)), st.integers(0, 100))
def test_frames_come_apart_wherever_the_stream_is_cut(
    frames: list[tuple[int, bytes]], cuts: list[int], limit: int
) -> None:
    output, data = Output(limit), stream(frames)
    for cut in cuts:
        output.feed(data[:cut])
        data = data[cut:]
    output.feed(data)
    out = b"".join(data for kind, data in frames if kind == 1)
    err = b"".join(data for kind, data in frames if kind == 2)
    assert (bytes(output.stdout), bytes(output.stderr)) == (out[:limit], err[:limit])
    assert output.truncated == (len(out) > limit or len(err) > limit)
