"""A runtime without containers, whose faults can be scripted. What machines do wrong cannot be had on demand."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from envs_forge.bundle.model import Bundle, BundleFile, TaskConfig
from envs_forge.errors import EngineError
from envs_forge.rollout.policy import Attempt, PolicyIdentity, StopReason
from envs_forge.sandbox.engine import ExecResult, Image, SandboxSpec
from envs_forge.sandbox.images.model import BuildFault
from envs_forge.sandbox.runtime import Caps, Prepared, Runtime
from envs_forge.sandbox.verification import Isolation, Verification


def bundle(name: str, *, text: str | None = None, metadata: Mapping[str, Any] | None = None) -> Bundle:
    files = {"instruction.md": BundleFile(data=(text or f"Do {name}.\n").encode()), "task.toml": BundleFile()}
    config = TaskConfig(agent_timeout_sec=40.0, metadata={"envs_forge": dict(metadata or {})})
    return Bundle(id=name, files=files, config=config)


@dataclass(frozen=True)
class Call:
    """One run of a bundle's tests: which one it is, over what, and where."""

    tries: int
    solved: bool
    isolation: Isolation
    ran: tuple[str, ...] = ()
    """Last words of the commands that ran before."""


class FakeSandbox:
    def __init__(self, runtime: FakeRuntime, name: str) -> None:
        self.runtime, self.name, self.solved = runtime, name, False
        self.ran: list[str] = []

    def __enter__(self) -> FakeSandbox:
        self.runtime.alive += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self.runtime.alive -= 1

    def exec(self, argv: Any, **options: Any) -> ExecResult:
        self.ran.append(str(argv[-1]))
        return ExecResult(0, b"", b"", 0.0)

    def get(self, path: str) -> Any:
        raise FileNotFoundError(path)

    def put(self, target: str, archive: Any) -> None:
        pass


class FakeRuntime(Runtime):
    """`verify` answers with `verdicts[bundle id]`: a reward, a `Verification`, an exception to raise, or a function
    from a `Call` to one of them."""

    def __init__(self, verdicts: Mapping[str, Any] | None = None) -> None:
        self.caps = Caps()
        self.verdicts = dict(verdicts or {})
        self.build_faults: dict[str, Any] = {}
        self.calls: list[tuple[str, str]] = []
        self.count: Counter[tuple[str, str]] = Counter()
        self.isolations: list[Isolation] = []
        self.closed = threading.Event()
        self.alive = 0
        self.gates: dict[str, threading.Event] = {}
        self.slow: set[str] = set()
        self.engine: Any = SimpleNamespace(name="fake", describe=lambda: {"runtime": "none"})

    def _note(self, what: str, name: str) -> int:
        self.calls.append((what, name))
        self.count[what, name] += 1
        return self.count[what, name]

    def prepare(self, bundle: Bundle) -> Prepared | BuildFault:
        tries = self._note("prepare", bundle.id)
        if bundle.id in self.gates:
            self.gates[bundle.id].wait(30)
        fault = self.build_faults.get(bundle.id)
        outcome = fault(tries) if isinstance(fault, Callable) else fault
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is not None:
            return outcome
        return Prepared(bundle, Image("sha256:0", "fake", workdir="/srv"), SandboxSpec(), "fake")

    def open(self, prepared: Prepared, *, env: Mapping[str, str] | None = None) -> Any:
        self._note("open", prepared.bundle.id)
        return FakeSandbox(self, prepared.bundle.id)

    def solve(self, prepared: Prepared, work: Any, *, timeout: float | None = None) -> ExecResult:
        work.solved = True
        return ExecResult(0, b"solved\n", b"", 0.1, timed_out=prepared.bundle.id in self.slow)

    def verify(
        self,
        prepared: Prepared,
        work: Any,
        *,
        isolation: Isolation = Isolation.FRESH,
        timeout: float | None = None,
        keep: Collection[str] = (),
    ) -> Verification:
        tries = self._note("verify", prepared.bundle.id)
        self.isolations.append(isolation)
        outcome = self.verdicts.get(prepared.bundle.id, 1.0)
        solved = work is not None and work.solved
        ran = tuple(work.ran) if work is not None else ()
        outcome = outcome(Call(tries, solved, isolation, ran)) if isinstance(outcome, Callable) else outcome
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome if isinstance(outcome, Verification) else Verification(reward=outcome, fault=None)

    def close(self) -> None:
        self.closed.set()


class FakePolicy:
    """Says what it is scripted to say, and remembers what it was told."""

    def __init__(self, attempt: Any = None) -> None:
        self.identity = PolicyIdentity(kind="fake", name="fake", version="1")
        self._attempt = attempt if attempt is not None else Attempt(stopped=StopReason.DONE)
        self.told: list[Any] = []
        self.seeds: list[int] = []

    def attempt(self, task: Any, sandbox: Any, *, seed: int) -> Attempt:
        self.told.append(task)
        self.seeds.append(seed)
        outcome = self._attempt(sandbox) if isinstance(self._attempt, Callable) else self._attempt
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def engine_died(code: str = "engine") -> EngineError:
    return EngineError("the engine went away", code=code)
