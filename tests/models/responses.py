"""Responses of any shape, most of them near enough to the protocol to be read for a while."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from .server import Reply

# Spelt out in the body, because `json` writes no such thing itself: what is too deep for it, or too long.
SPELT = {
    f"<{name}>": text
    for name, text in {
        **{f"lists {depth}": "[" * depth + "]" * depth for depth in (100, 900, 950, 1000, 5000, 100_000)},
        **{f"tables {depth}": '{"a":' * depth + "1" + "}" * depth for depth in (900, 950, 5000)},
        **{f"digits {digits}": "1" + "0" * digits for digits in (18, 30, 400, 5000)},
    }.items()
}
texts = st.text(st.sampled_from("ab \n\0é\u0085\u2028\ufeff\ufffd\ud83d\ude00\ud800\udfff"), max_size=6)
scalars = st.one_of(
    st.none(), st.booleans(), texts, st.integers(-3, 300), st.integers(), st.floats(), st.sampled_from(sorted(SPELT))
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)


def _mostly(proper: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 19).flatmap(lambda drawn: values if drawn == 7 else proper)


def _table(always: Mapping[str, st.SearchStrategy[Any]] = {}, **fields: st.SearchStrategy[Any]) -> Any:
    proper = [{name: _mostly(field) for name, field in some.items()} for some in (always, fields)]
    return _mostly(st.fixed_dictionaries(proper[0], optional=proper[1]))


def _lists(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(_mostly(inner), min_size=1, max_size=3)


_count = st.integers(0, 50)
_function = _table(name=texts, arguments=st.sampled_from(['{"command": "ls"}', "{"]))
_call = _table({"function": _function}, index=st.integers(0, 2), id=texts)
_message = _table(
    {"content": texts | _lists(_table(type=st.just("text"), text=texts))},
    reasoning_content=texts,
    reasoning=texts,
    refusal=texts,
    tool_calls=_lists(_call),
)
_finish = st.sampled_from(["stop", "length", "tool_calls", "content_filter"])
_token = _table({"token": texts, "logprob": st.floats(-9, 0)})
_more = {"logprobs": _table({"content": _lists(_token)}), "token_ids": _lists(_count)}
_usage = _table(
    {"prompt_tokens": _count, "completion_tokens": _count},
    total_tokens=_count,
    prompt_tokens_details=_table(cached_tokens=_count),
    completion_tokens_details=_table(reasoning_tokens=_count),
)
_rest = {"model": texts, "usage": _usage, "prompt_token_ids": _lists(_count)}
_error = _table({"error": _table({"message": texts}, code=texts)})
_whole = _table({"choices": _lists(_table({"message": _message, "finish_reason": _finish}, **_more))}, **_rest)
_piece = _table({"choices": _lists(_table({"delta": _message}, finish_reason=_finish, **_more))}, **_rest)
_last = st.just({"error": None, "choices": [{"finish_reason": "stop"}]})


def _spelt(value: Any, as_it_is: bool) -> bytes:
    text = json.dumps(value, ensure_ascii=not as_it_is)
    for name, spelling in SPELT.items():
        text = text.replace(f'"{name}"', spelling)
    return text.encode("utf-8", "surrogatepass")


def _stream(pieces: Iterable[Any], as_it_is: bool, ending: bytes) -> bytes:
    return b"".join(b"data: " + _spelt(piece, as_it_is) + ending for piece in pieces) + b"data: [DONE]" + ending


_ending = st.sampled_from([b"\n\n", b"\r\n\r\n", b"\r\r"])
_STATUSES = (400, 401, 404, 408, 429, 500, 503)
_HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"content-type": "application/json; charset=hex"},
    {"content-type": "text/plain; charset=utf-16"},
    {"retry-after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"},
    {"content-encoding": "gzip"},
)
bodies = st.one_of(
    st.builds(_spelt, _whole, st.booleans()),
    st.builds(_spelt, _whole, st.booleans()),
    st.builds(_spelt, _error, st.booleans()),
    st.builds(_stream, st.tuples(_piece, _piece, _last | _error), st.booleans(), _ending),
    st.binary(max_size=20),
)
replies = st.builds(
    Reply,
    status=st.one_of(st.just(200), st.just(200), st.just(200), st.sampled_from(_STATUSES)),
    body=bodies,
    headers=st.one_of(st.just({}), st.just({}), st.just({}), st.sampled_from(_HEADERS)),
    drop=st.sampled_from([False] * 9 + [True]),
)
