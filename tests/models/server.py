"""A real HTTP server that speaks the chat protocol and misbehaves on demand."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


@dataclass(frozen=True)
class Reply:
    """What the server does with one request."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    hang: bool = False
    drop: bool = False
    """Close the connection without a word; with a body, in the middle of it."""
    byte_pause_s: float = 0.0


def says(
    text: str | None = "",
    *,
    calls: Sequence[Any] = (),
    finish: str | None = None,
    usage: Any = USAGE,
    message: Mapping[str, Any] | None = None,
    choice: Mapping[str, Any] | None = None,
    delay_s: float = 0.0,
    **top: Any,
) -> Reply:
    """An answer. `calls` are commands (a string makes a proper call of `bash`) or raw tool calls."""
    told: dict[str, Any] = {"role": "assistant", "content": text, **(message or {})}
    if calls:
        told["tool_calls"] = [_call(n, call) if isinstance(call, str) else call for n, call in enumerate(calls)]
    chosen = {"index": 0, "message": told, "finish_reason": finish or ("tool_calls" if calls else "stop")}
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [chosen | dict(choice or {})],
    }
    if usage is not None:
        body["usage"] = usage
    return Reply(body=body | top, delay_s=delay_s)


def fails(status: int, message: str = "oh dear", *, code: str | None = None, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body={"error": {"message": message, "code": code, "type": "x"}}, headers=named)


def streams(reply: Reply, *, pieces: int = 3, cut: int | None = None) -> Reply:
    """The same answer as a stream of events; `cut` ends it after so many of them."""
    (choice,) = reply.body["choices"]
    message = {**choice["message"]}
    text, calls = message.pop("content") or "", message.pop("tool_calls", [])
    deltas: list[dict[str, Any]] = [{"role": "assistant", **message}]
    deltas += [{"content": part} for part in _parts(text, pieces)]
    for number, call in enumerate(calls):
        for place, part in enumerate(_parts(call["function"]["arguments"], pieces)):
            head = {"id": call["id"], "type": "function"} if place == 0 else {}
            named = {"name": call["function"]["name"]} if place == 0 else {}
            deltas.append({"tool_calls": [{"index": number, **head, "function": {**named, "arguments": part}}]})
    more = {key: value for key, value in choice.items() if key not in ("message", "index", "finish_reason")}
    chunks = [{"model": reply.body["model"], "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks[-1]["choices"][0] |= more
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if "usage" in reply.body:
        chunks.append({"choices": [], "usage": reply.body["usage"]})
    lines = [f"data: {json.dumps(chunk)}" for chunk in chunks[:cut]] + ([] if cut else ["data: [DONE]"])
    data = ": ping\n\n" + "".join(f"{line}\n\n" for line in lines)
    return Reply(body=data.encode(), headers={"content-type": "text/event-stream"}, delay_s=reply.delay_s)


def _parts(text: str, count: int) -> list[str]:
    size = max(1, -(-len(text) // count))
    return [text[at : at + size] for at in range(0, len(text), size)]


def hangs() -> Reply:
    return Reply(hang=True)


def drops() -> Reply:
    return Reply(drop=True)


def _call(number: int, command: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    return {"id": f"call-{number}", "type": "function", "function": function}


Script = Callable[[Mapping[str, Any], int], Reply]


class ModelServer:
    """Serves on a free port until the block is left. `script` gives the reply to a request and its number from 0;
    a list is played in order, its last reply for good. Probes are answered with `probed`, and not numbered.
    """

    def __init__(self, script: Script | Sequence[Reply] = (), *, takes_tools: bool = True) -> None:
        self._script = script if callable(script) else _played(list(script))
        self.takes_tools = takes_tools
        self.probed = says(None, calls=["true"])
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.times: list[float] = []
        self.probes = 0
        self.busy = self.most_busy = 0
        self._lock = threading.Lock()
        self._over = threading.Event()

    def __enter__(self) -> ModelServer:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server._handle(self)

            def log_message(self, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        with self._lock:
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._answer(handler, self._reply(body, handler.headers.get("authorization", "")))
        finally:
            with self._lock:
                self.busy -= 1

    def _reply(self, body: dict[str, Any], key: str) -> Reply:
        if body.get("tools") and not self.takes_tools:
            return fails(400, '"auto" tool choice requires a parser')
        if body["messages"][-1]["content"] in ("Reply with OK.", "Call the tool `bash` with the command: true"):
            self.probes += 1
            return self.probed if body.get("tools") else says("OK")
        with self._lock:
            self.requests.append(body)
            self.keys.append(key)
            self.times.append(time.monotonic())
            number = len(self.requests) - 1
        return self._script(body, number)

    def _answer(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        if reply.hang:
            self._over.wait(30)
        if reply.hang or (reply.drop and reply.body is None):
            handler.close_connection = True
            return
        self._over.wait(reply.delay_s) if reply.delay_s else None
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        handler.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        if reply.drop:
            handler.wfile.write(data[: len(data) // 2])
            handler.close_connection = True
        elif reply.byte_pause_s:
            self._trickle(handler, data, reply.byte_pause_s)
        else:
            handler.wfile.write(data)

    def _trickle(self, handler: BaseHTTPRequestHandler, data: bytes, pause_s: float) -> None:
        for byte in data:
            if self._over.wait(pause_s):
                return
            handler.wfile.write(bytes([byte]))


def _played(replies: list[Reply]) -> Script:
    return lambda body, number: replies[min(number, len(replies) - 1)]
