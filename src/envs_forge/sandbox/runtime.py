"""The one layer that rollouts and gold verification use: bundle → image → work sandbox → oracle → tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from envs_forge.bundle.env import resolve_env
from envs_forge.bundle.model import Bundle, VerifierMode
from envs_forge.bundle.support import unsupported
from envs_forge.sandbox.archive import pack
from envs_forge.sandbox.auto import RoutedEngine, make_engine
from envs_forge.sandbox.companions import prepare_company
from envs_forge.sandbox.engine import CannotStartError, Engine, ExecResult, Sandbox
from envs_forge.sandbox.images.model import BuildCode, BuildFault, BuiltImage
from envs_forge.sandbox.images.registry import RegistryPolicy
from envs_forge.sandbox.images.store import ImageStore
from envs_forge.sandbox.network import shows_no_network
from envs_forge.sandbox.oracles import OracleMemory
from envs_forge.sandbox.prepared import NO_CAPS, ROOT, Caps, Prepared, assemble
from envs_forge.sandbox.scripts import folder_files, launch, real_path
from envs_forge.sandbox.separate import run_hooks, verifier_bundle, verify_apart
from envs_forge.sandbox.temporary import remove_dead_directories
from envs_forge.sandbox.verification import Isolation, Verification
from envs_forge.sandbox.verifier import verify, verify_untouched

SOLUTION = "solution"
SCRIPT = "solution/solve.sh"
LOG_DIRS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")
"""Directories that every work sandbox has, as in Harbor."""
SHELL_S = 30.0
__all__ = ["Caps", "Prepared", "Runtime", "lacks_network", "open_runtime"]


class Runtime:
    """Runs bundles. Thread-safe: one object serves a whole command. Use as a context manager.

    Args:
        engine: Where sandboxes run, from `sandbox.auto.make_engine`.
        caps: Upper bounds on what bundles get.
        images: Where images come from; default a store on the engine that the `docker` command uses.
    """

    def __init__(self, engine: Engine, *, caps: Caps = NO_CAPS, images: ImageStore | None = None) -> None:
        self.engine = engine
        self.caps = caps
        self._images = images or ImageStore()
        self._oracles = OracleMemory()
        self._with_shell: set[str] = set()

    def prepare(self, bundle: Bundle) -> Prepared | BuildFault:
        """Build or find the bundle's images. A few ms when they are there.

        A task that asks for what no engine here gives is a fault too, so that nothing it asks for is ever ignored.

        Raises:
            InfrastructureError: The machine failed, not the bundle.
        """
        missing = unsupported(bundle)
        if missing:
            message = "; ".join(f"{finding.message} [{finding.code}]" for finding in missing)
            return BuildFault(code=BuildCode.UNSUPPORTED, message=message)
        built = self._images.ensure(bundle)
        own: BuiltImage | None = None
        if bundle.config.verifier_mode is VerifierMode.SEPARATE and isinstance(built, BuiltImage):
            outcome = self._images.ensure(verifier_bundle(bundle))
            if isinstance(outcome, BuildFault):
                return outcome.model_copy(update={"message": f"the verifier's image: {outcome.message}"})
            own = outcome
        if isinstance(built, BuildFault):
            return built
        company = prepare_company(bundle, self._images.ensure)
        if isinstance(company, BuildFault):
            return company
        ready = assemble(bundle, built, own, company, self.caps, self.engine.name)
        return replace(ready, engine=self._engine_of(ready).name)

    def open(self, prepared: Prepared, *, env: Mapping[str, str] | None = None) -> Sandbox:
        """Make and start a fresh work sandbox; the caller destroys it (context manager).

        Args:
            prepared: From `prepare`.
            env: Variables laid over the image's and the bundle's `[environment.env]`.

        Raises:
            CannotStartError: The image has no shell, or a container beside the agent's does not run.
        """
        laid_over = {**prepared.spec.env, **(env or {})}
        spec = replace(prepared.spec, env=laid_over, fresh_dirs=LOG_DIRS, companions=prepared.company)
        sandbox = self._engine_of(prepared).create(prepared.image, spec)
        try:
            if prepared.engine != "docker":  # it refuses by itself
                self._see_shell(sandbox, prepared.image.id)
        except BaseException:
            sandbox.destroy()
            raise
        return sandbox

    def _see_shell(self, sandbox: Sandbox, image_id: str) -> None:
        """No script of a bundle runs without `/bin/sh`. Found out once an image."""
        if image_id in self._with_shell:
            return
        if sandbox.exec(["/bin/sh", "-c", ":"], timeout=SHELL_S, user=ROOT, cwd="/").exit_code in (126, 127):
            raise CannotStartError("the image has no /bin/sh that runs", code="no-shell")
        self._with_shell.add(image_id)

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
            isolation: Where the tests run; of no consequence where they have an environment of their own.
            timeout: Seconds for the tests; default the bundle's own.
            keep: Further protected paths whose changes reach the tests.
        """
        engine, bundle = self._engine_of(prepared), prepared.bundle
        if work is None and (prepared.apart is not None or prepared.company or bundle.config.collect):
            with self.open(prepared) as untouched:
                return self.verify(prepared, untouched, isolation=isolation, timeout=timeout, keep=keep)
        if work is not None:
            run_hooks(work, bundle.config.collect)
        if prepared.apart is not None and work is not None:
            workdir = prepared.image.workdir
            return verify_apart(engine, bundle, work, prepared.apart, workdir=workdir, timeout=timeout)
        spec = replace(prepared.spec, network=prepared.verifier_network)
        if prepared.company and work is not None:
            spec = replace(spec, beside=work.id)
        if work is None:
            spec = replace(spec, fresh_dirs=LOG_DIRS)
            done = verify_untouched(
                engine, bundle, prepared.image, spec=spec, user=prepared.verifier_user, timeout=timeout
            )
            if done.fault is not None:
                self.open(prepared).destroy()  # says so where there is no shell
            return done
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

    def _engine_of(self, prepared: Prepared) -> Engine:
        if isinstance(self.engine, RoutedEngine):
            return self.engine.engine_for(prepared.needs_docker)
        return self.engine


def lacks_network(prepared: Prepared, text: str) -> bool:
    """Whether `text` (output of tests, oracle) shows a failure for want of the network that was withheld.

    Then the outcome is `unsupported: needs-network`, never a rejection.
    """
    return prepared.network_withheld and shows_no_network(text)


def open_runtime(
    engine: str = "auto",
    *,
    caps: Caps = NO_CAPS,
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
        remove_dead_directories()
        return Runtime(made, caps=caps, images=ImageStore(base_images=base_images, registry=registry))
    except BaseException:
        made.close()
        raise
