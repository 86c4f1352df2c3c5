"""What a turn of the terminal agent costs beside a bare `exec`, with a local endpoint that answers at once."""

from __future__ import annotations

import json
import multiprocessing
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from envs_forge.config import AgentSettings
from envs_forge.models.settings import EndpointSettings
from envs_forge.rollout.policies.terminal.policy import TerminalPolicy
from envs_forge.rollout.policy import TaskView
from envs_forge.sandbox.runtime import Prepared, Runtime

TURNS = 30
COMMAND = "true"


class _Endpoint(BaseHTTPRequestHandler):
    """Says `true` until so many answers were given in a conversation, then that it is done."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer one request of the chat protocol."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        data = json.dumps(_answer(turns)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def _answer(turns: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "DONE"}
    if turns < TURNS:
        call = {"name": "bash", "arguments": json.dumps({"command": COMMAND})}
        message = {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "type": "function", "function": call}],
        }
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def _serve(port: Any) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
    server.daemon_threads = True
    port.send(server.server_address[1])
    server.serve_forever()


@contextmanager
def _endpoint() -> Iterator[str]:
    """The address of an endpoint in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def turn_overhead(runtime: Runtime, prepared: Prepared, rounds: int) -> dict[str, float]:
    """Medians in milliseconds: a turn of the agent, a bare exec of the same command, and the difference."""
    turns, bare = [], []
    with _endpoint() as url:
        endpoint = EndpointSettings(base_url=url, timeout_s=30, retries=0)
        policy = TerminalPolicy("m", endpoint, AgentSettings(turns=TURNS + 5))
        task = TaskView(instruction="Nothing.", workdir=prepared.image.workdir, timeout_s=600)
        for number in range(rounds + 1):
            with runtime.open(prepared) as sandbox:
                for argv in (["true"], ["bash", "-c", COMMAND]):  # once, unmeasured
                    sandbox.exec(argv, timeout=30)
                began = time.perf_counter()
                for _ in range(TURNS):
                    sandbox.exec(["bash", "-c", COMMAND], timeout=30)
                middle = time.perf_counter()
                attempt = policy.attempt(task, sandbox, seed=1)
                ended = time.perf_counter()
            if len(attempt.steps) != TURNS:
                raise SystemExit(f"the agent ran {len(attempt.steps)} commands: {attempt.error}")
            if number:
                bare.append((middle - began) / TURNS * 1000)
                turns.append((ended - middle) / TURNS * 1000)
    turn, command = statistics.median(turns), statistics.median(bare)
    return {"agent_turn_ms": turn, "bare_exec_ms": command, "agent_turn_overhead_ms": turn - command}
