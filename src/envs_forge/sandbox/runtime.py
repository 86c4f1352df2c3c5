"""The one layer that rollouts and gold verification use: bundle → image → work sandbox → oracle → tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType

from envs_forge.bundle.model import Bundle
from envs_forge.sandbox.engine import Engine, ExecResult, Image, Sandbox, SandboxSpec
from envs_forge.sandbox.images.model import BuildFault
from envs_forge.sandbox.verification import Isolation, Verification


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that a bundle gets, whatever it asks for. None is no cap."""

    cpus: float | None = None
    memory_mb: int | None = None
    disk_mb: int | None = None
    pids: int = 512
    network: bool = True
    """False is `--no-network`: no sandbox gets a network, whatever the bundle asks for."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A bundle whose image is ready.

    Attributes:
        bundle: The bundle.
        image: Its image; `image.id` goes into verdicts, `image.workdir` into the `TaskView`.
        spec: How its sandboxes are made: the bundle's limits under the caps.
        engine: Name of the engine that its sandboxes run on.
        substitutions: Base images that the Dockerfile names → local images that stood in for them.
        network_withheld: The bundle asks for a network and does not get one (`Caps.network`).
    """

    bundle: Bundle
    image: Image
    spec: SandboxSpec
    engine: str
    substitutions: Mapping[str, str] = field(default_factory=dict)
    network_withheld: bool = False


class Runtime:
    """Runs bundles. Thread-safe: one object serves a whole command. Use as a context manager.

    Args:
        engine: Where sandboxes run, from `sandbox.auto.make_engine`.
        caps: Upper bounds on what bundles get.
    """

    def __init__(self, engine: Engine, *, caps: Caps = Caps()) -> None:
        self.engine = engine
        self.caps = caps

    def prepare(self, bundle: Bundle) -> Prepared | BuildFault:
        """Build or find the bundle's image. A few ms when it is there.

        Raises:
            InfrastructureError: The machine failed, not the bundle.
        """
        raise NotImplementedError

    def open(self, prepared: Prepared, *, env: Mapping[str, str] | None = None) -> Sandbox:
        """Make and start a fresh work sandbox; the caller destroys it (context manager).

        Args:
            prepared: From `prepare`.
            env: Variables laid over the image's and the bundle's `[environment.env]`.
        """
        raise NotImplementedError

    def solve(self, prepared: Prepared, work: Sandbox, *, timeout: float | None = None) -> ExecResult:
        """Put `/solution` into `work` and run the oracle `solve.sh` with `[solution.env]`.

        Args:
            prepared: From `prepare`.
            work: A fresh work sandbox.
            timeout: Seconds; default the bundle's `agent_timeout_sec`.
        """
        raise NotImplementedError

    def verify(
        self,
        prepared: Prepared,
        work: Sandbox,
        *,
        isolation: Isolation = Isolation.FRESH,
        timeout: float | None = None,
    ) -> Verification:
        """Run the bundle's tests over what happened in `work`; see `verifier.verify`."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the engine and everything that is still open on it. Idempotent."""
        raise NotImplementedError

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def lacks_network(prepared: Prepared, text: str) -> bool:
    """Whether `text` (output of tests, oracle) shows a failure for want of the network that was withheld.

    Then the outcome is `unsupported: needs-network`, never a rejection.
    """
    raise NotImplementedError


def open_runtime(engine: str = "auto", *, caps: Caps = Caps()) -> Runtime:
    """Make the engine called `engine` and the runtime over it; use it as a context manager.

    Args:
        engine: `auto`, `oci` or `docker`.
        caps: Upper bounds on what bundles get.

    Raises:
        PrerequisiteError: No engine can run here; the message says what to do.
    """
    raise NotImplementedError
