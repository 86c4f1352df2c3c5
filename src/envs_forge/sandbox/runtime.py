"""The one layer that rollouts and gold verification use: bundle → image → work sandbox → oracle → tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from envs_forge.bundle.env import resolve_env
from envs_forge.bundle.model import Bundle, EnvironmentConfig
from envs_forge.sandbox.archive import pack
from envs_forge.sandbox.auto import RoutedEngine, make_engine
from envs_forge.sandbox.engine import Engine, ExecResult, Image, Limits, Sandbox, SandboxSpec
from envs_forge.sandbox.images.model import BuildFault, BuiltImage
from envs_forge.sandbox.images.registry import RegistryPolicy
from envs_forge.sandbox.images.store import ImageStore
from envs_forge.sandbox.network import shows_no_network
from envs_forge.sandbox.oracles import OracleMemory
from envs_forge.sandbox.scripts import folder_files, launch, real_path
from envs_forge.sandbox.verification import Isolation, Verification
from envs_forge.sandbox.verifier import verify, verify_untouched

SOLUTION = "solution"
SCRIPT = "solution/solve.sh"
LOG_DIRS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")
"""Directories that every work sandbox has, as in Harbor."""
ROOT = "0:0"
SMALLEST_MEMORY_MB = 16


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
        image: Its image, with the task's own user and working directory laid over it; `image.id` goes into
            verdicts, `image.workdir` into the `TaskView`.
        spec: How its work sandboxes are made: the bundle's limits under the caps.
        engine: Name of the engine that its sandboxes run on.
        substitutions: Base images that the Dockerfile names → local images that stood in for them.
        network_withheld: The bundle asks for a network and does not get one (`Caps.network`).
        verifier_user: Who runs the tests; None is the image's user.
        verifier_network: Whether the tests' sandbox has a network.
    """

    bundle: Bundle
    image: Image
    spec: SandboxSpec
    engine: str
    substitutions: Mapping[str, str] = field(default_factory=dict)
    network_withheld: bool = False
    verifier_user: str | None = None
    verifier_network: bool = False

    @property
    def network(self) -> bool:
        """Whether any of its sandboxes has a network."""
        return self.spec.network or self.verifier_network


class Runtime:
    """Runs bundles. Thread-safe: one object serves a whole command. Use as a context manager.

    Args:
        engine: Where sandboxes run, from `sandbox.auto.make_engine`.
        caps: Upper bounds on what bundles get.
        images: Where images come from; default a store on the engine that the `docker` command uses.
    """

    def __init__(self, engine: Engine, *, caps: Caps = Caps(), images: ImageStore | None = None) -> None:
        self.engine = engine
        self.caps = caps
        self._images = images or ImageStore()
        self._oracles = OracleMemory()

    def prepare(self, bundle: Bundle) -> Prepared | BuildFault:
        """Build or find the bundle's image. A few ms when it is there.

        Raises:
            InfrastructureError: The machine failed, not the bundle.
        """
        outcome = self._images.ensure(bundle)
        return outcome if isinstance(outcome, BuildFault) else self._prepared(bundle, outcome)

    def open(self, prepared: Prepared, *, env: Mapping[str, str] | None = None) -> Sandbox:
        """Make and start a fresh work sandbox; the caller destroys it (context manager).

        Args:
            prepared: From `prepare`.
            env: Variables laid over the image's and the bundle's `[environment.env]`.
        """
        spec = replace(prepared.spec, env={**prepared.spec.env, **(env or {})}, fresh_dirs=LOG_DIRS)
        return self._engine_of(prepared).create(prepared.image, spec)

    def solve(self, prepared: Prepared, work: Sandbox, *, timeout: float | None = None) -> ExecResult:
        """Put `/solution` into `work` and run the oracle `solve.sh` with `[solution.env]`.

        Args:
            prepared: From `prepare`.
            work: A fresh work sandbox.
            timeout: Seconds; default the bundle's `agent_timeout_sec`.

        Returns:
            What the oracle did; its standard error is part of `stdout`.
        """
        bundle = prepared.bundle
        script = real_path(bundle.files, SCRIPT)
        files = folder_files(bundle.files, SOLUTION)
        with pack(files, directories={SOLUTION: 0o755}, executable=script) as archive:
            work.put("/", archive)
        return work.exec(
            launch(f"/{SCRIPT}", prepared.image.workdir),
            timeout=bundle.config.agent_timeout_sec if timeout is None else timeout,
            env={"DEBIAN_FRONTEND": "noninteractive", **resolve_env(bundle.config.solution_env, {})[0]},
            cwd="/",
        )

    def verify(
        self,
        prepared: Prepared,
        work: Sandbox | None,
        *,
        isolation: Isolation = Isolation.FRESH,
        timeout: float | None = None,
        keep: Collection[str] = (),
    ) -> Verification:
        """Run the bundle's tests over what happened in `work`; see `verifier.verify`.

        Changes of protected paths reach the tests where the oracle makes them too: it is run once to find out, when
        a first agent makes such changes.

        Args:
            prepared: From `prepare`.
            work: The sandbox that the agent worked in; None for the image in which nobody has done anything, where a
                fresh sandbox is all that is needed.
            isolation: Where the tests run.
            timeout: Seconds for the tests; default the bundle's own.
            keep: Further protected paths whose changes reach the tests.
        """
        engine, bundle = self._engine_of(prepared), prepared.bundle
        spec = replace(prepared.spec, network=prepared.verifier_network)
        if work is None:
            spec = replace(spec, fresh_dirs=LOG_DIRS)
            return verify_untouched(
                engine, bundle, prepared.image, spec=spec, user=prepared.verifier_user, timeout=timeout
            )
        return verify(
            engine,
            bundle,
            work,
            spec=spec,
            workdir=prepared.image.workdir,
            user=prepared.verifier_user,
            isolation=isolation,
            timeout=timeout,
            kept=lambda: self.oracle_changes(prepared).union(keep),
        )

    def oracle_changes(self, prepared: Prepared) -> frozenset[str]:
        """Every path that the bundle's oracle changes, found by running it once.

        Raises:
            InfrastructureError: The machine failed.
        """
        return self._oracles.changes(prepared.bundle, prepared.image.id, lambda: self._oracle_run(prepared))

    def _oracle_run(self, prepared: Prepared) -> frozenset[str]:
        with self.open(prepared) as work:
            self.solve(prepared, work)
            snapshot = work.snapshot()
            try:
                return frozenset(change.path for change in snapshot.changes())
            finally:
                snapshot.release()

    def describe(self, prepared: Prepared | None = None) -> Mapping[str, str]:
        """See `Engine.describe`; of the engine that runs a bundle, or of the usual one."""
        return (self.engine if prepared is None else self._engine_of(prepared)).describe()

    def close(self) -> None:
        """Stop builds, close the engine and everything that is still open on it. Idempotent."""
        self._images.close()
        self.engine.close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _prepared(self, bundle: Bundle, built: BuiltImage) -> Prepared:
        config = bundle.config
        wanted = config.environment
        asked = (_first(config.agent_network, wanted.network), _first(config.verifier_network, wanted.network))
        agent, verifier = (given and self.caps.network for given in asked)
        spec = SandboxSpec(limits=self._limits(wanted), network=agent, env=resolve_env(wanted.env, {})[0])
        image = replace(
            built.image,
            workdir=wanted.workdir or built.image.workdir,
            user=config.agent_user or built.image.user,
        )
        prepared = Prepared(
            bundle=bundle,
            image=image,
            spec=spec,
            engine=self.engine.name,
            substitutions=built.substitutions,
            network_withheld=any(asked) and not self.caps.network,
            verifier_user=config.verifier_user or (built.image.user or ROOT if config.agent_user else None),
            verifier_network=verifier,
        )
        return replace(prepared, engine=self._engine_of(prepared).name)

    def _limits(self, wanted: EnvironmentConfig) -> Limits:
        return Limits(
            cpus=_least(wanted.cpus, self.caps.cpus),
            memory_mb=int(max(_least(wanted.memory_mb, self.caps.memory_mb), SMALLEST_MEMORY_MB)),
            pids=self.caps.pids,
            disk_mb=int(_least(wanted.storage_mb, self.caps.disk_mb)),
        )

    def _engine_of(self, prepared: Prepared) -> Engine:
        if isinstance(self.engine, RoutedEngine):
            return self.engine.engine_for(prepared.network)
        return self.engine


def lacks_network(prepared: Prepared, text: str) -> bool:
    """Whether `text` (output of tests, oracle) shows a failure for want of the network that was withheld.

    Then the outcome is `unsupported: needs-network`, never a rejection.
    """
    return prepared.network_withheld and shows_no_network(text)


def open_runtime(
    engine: str = "auto",
    *,
    caps: Caps = Caps(),
    base_images: Mapping[str, str] | None = None,
    registry: RegistryPolicy = RegistryPolicy.FIRST,
) -> Runtime:
    """Make an engine and the runtime over it, and remove what dead processes left; use it as a context manager.

    Args:
        engine: `auto`, `oci` or `docker`.
        caps: Upper bounds on what bundles get.
        base_images: Stand-ins of this site for base images, before the packaged ones: pattern → local image.
        registry: When registries are asked for base images.

    Raises:
        PrerequisiteError: No engine can run here; the message says what to do.
    """
    made = make_engine(engine)
    try:
        made.reap()
        return Runtime(made, caps=caps, images=ImageStore(base_images=base_images, registry=registry))
    except BaseException:
        made.close()
        raise


def _first(value: bool | None, default: bool) -> bool:
    return default if value is None else value


def _least(wanted: float, cap: float | None) -> float:
    return wanted if cap is None else min(wanted, cap)
