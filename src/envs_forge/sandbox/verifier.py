"""Runs a bundle's tests over what the agent left, and reads the reward strictly."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from envs_forge.bundle.env import resolve_env
from envs_forge.bundle.model import Bundle
from envs_forge.errors import EngineError
from envs_forge.sandbox.archive import pack
from envs_forge.sandbox.carrying import carried_over
from envs_forge.sandbox.engine import Engine, ExecResult, Image, MiB, Sandbox, SandboxSpec, Snapshot
from envs_forge.sandbox.protection import Protection, carried, is_kept, spoilt
from envs_forge.sandbox.results import CTRF, read_results
from envs_forge.sandbox.reward import JSON, TEXT, VERIFIER_DIR, Reward, fetch, read_reward
from envs_forge.sandbox.scripts import folder_files, launch, real_path, tail
from envs_forge.sandbox.verification import Isolation, RewardFault, Verification

TESTS = "tests"
SCRIPT = "tests/test.sh"
FRESH_DIRS = ("/tests", VERIFIER_DIR)
OUTPUT_LIMIT = 8 * MiB
CLEARING_S = 30.0
RESTORED_SHOWN = 50
CLEAR = 'for d in "$@"; do rm -rf -- "$d" && mkdir -p -- "$d" || exit 1; done'


def verify(
    engine: Engine,
    bundle: Bundle,
    work: Sandbox,
    *,
    spec: SandboxSpec,
    workdir: str = "/",
    user: str | None = None,
    isolation: Isolation = Isolation.FRESH,
    timeout: float | None = None,
    kept: Callable[[], frozenset[str]] = frozenset,
) -> Verification:
    """Run `tests/test.sh` over what happened in `work` and read the reward.

    With `Isolation.FRESH` the agent's processes are killed, its filesystem becomes the lower layer of a new
    sandbox, and afterwards `work` can only be destroyed. Where the agent changed a protected path that is not
    `kept`, the new sandbox is one of the untouched image, with everything else that the agent changed. With
    `Isolation.LIVE` the tests run beside whatever is still running in `work`. Either way `/tests` comes from
    `bundle` and `/logs/verifier` starts out empty.

    Args:
        engine: The engine that made `work`.
        bundle: Where the tests come from.
        work: The sandbox that the agent or the oracle worked in. It is not destroyed here.
        spec: How the sandbox of the tests is made; its `fresh_dirs` are overridden.
        workdir: Where the script starts.
        user: Who runs it; default the image's USER.
        isolation: Where the tests run.
        timeout: Seconds for `test.sh`; default the bundle's own.
        kept: Paths whose changes reach the tests although they are protected; asked only when there are such changes.

    Returns:
        The verification: a reward or a fault, never both.

    Raises:
        InfrastructureError: The machine failed; there is no verification.
    """
    seconds = bundle.config.verifier_timeout_sec if timeout is None else timeout
    run = _Run(bundle, workdir, user, seconds)
    if isolation is Isolation.LIVE:
        return run.beside(work)
    snapshot = work.snapshot()
    try:
        protection = Protection(bundle, snapshot.image)
        restored = _spoilt(snapshot, protection, kept)
        with _fresh(engine, snapshot, replace(spec, fresh_dirs=FRESH_DIRS), protection, restored) as sandbox:
            verification = run.inside(sandbox)
        return verification.model_copy(update={"restored": tuple(sorted(restored)[:RESTORED_SHOWN])})
    except EngineError as error:
        if error.code == "no-shell":
            return nothing(Isolation.FRESH, f"what was left of the filesystem cannot run anything: {error.message}")
        raise
    finally:
        snapshot.release()


def verify_untouched(
    engine: Engine,
    bundle: Bundle,
    image: Image,
    *,
    spec: SandboxSpec,
    user: str | None = None,
    timeout: float | None = None,
) -> Verification:
    """Run `tests/test.sh` over an image in which nobody has done anything, in one fresh sandbox, and read the reward.

    What single tests said is read too. Arguments, result and errors are those of `verify`; `spec.fresh_dirs` come
    beside the verifier's own.
    """
    seconds = bundle.config.verifier_timeout_sec if timeout is None else timeout
    fresh = tuple(dict.fromkeys((*spec.fresh_dirs, *FRESH_DIRS)))
    with engine.create(image, replace(spec, fresh_dirs=fresh)) as sandbox:
        verification = _Run(bundle, image.workdir, user, seconds).inside(sandbox)
        report = fetch(sandbox, CTRF)
    results = read_results(report.data if report is not None else None, verification.output_tail)
    return verification.model_copy(update={"tests": results})


def _spoilt(snapshot: Snapshot, protection: Protection, kept: Callable[[], frozenset[str]]) -> frozenset[str]:
    """Protected paths that the agent changed and that are not kept."""
    changed = spoilt(snapshot.changes(), protection)
    if not changed:
        return frozenset()
    let_through = kept()
    return frozenset(change.path for change in changed if not is_kept(change.path, let_through))


def _fresh(
    engine: Engine, snapshot: Snapshot, spec: SandboxSpec, protection: Protection, restored: frozenset[str]
) -> AbstractContextManager[Sandbox]:
    """A sandbox for the tests: over the agent's filesystem, or over the image with the agent's work carried over."""
    if not restored:
        return engine.create(snapshot, spec)
    left = carried(snapshot.changes(), protection, restored)
    return carried_over(engine, snapshot, spec, [change for change in left if not _is_ours(change.path)])


def _is_ours(path: str) -> bool:
    """Whether a path is one of the verifier's directories, in one of them, or above one."""
    return any(f"{path}/".startswith(f"{fresh}/") or f"{fresh}/".startswith(f"{path}/") for fresh in FRESH_DIRS)


class _Run:
    """One run of a bundle's tests."""

    def __init__(self, bundle: Bundle, workdir: str, user: str | None, timeout: float) -> None:
        self._bundle = bundle
        self._workdir = workdir
        self._user = user
        self._timeout = timeout

    def inside(self, sandbox: Sandbox) -> Verification:
        """Run them in a sandbox with fresh directories."""
        return self._run(sandbox, Isolation.FRESH)

    def beside(self, sandbox: Sandbox) -> Verification:
        """Run them in the agent's own sandbox, with its own tools, once its traces are cleared away."""
        argv = ["/bin/sh", "-c", CLEAR, "sh", *FRESH_DIRS]
        cleared = sandbox.exec(argv, timeout=CLEARING_S, user="0:0", cwd="/")
        if cleared.exit_code != 0 or any(fetch(sandbox, name) is not None for name in (TEXT, JSON)):
            return nothing(Isolation.LIVE, f"the verifier's directories cannot be cleared: {tail(cleared.stderr)}")
        return self._run(sandbox, Isolation.LIVE)

    def _run(self, sandbox: Sandbox, isolation: Isolation) -> Verification:
        plant(sandbox, self._bundle)
        return run_tests(
            sandbox,
            self._bundle,
            workdir=self._workdir,
            user=self._user,
            timeout=self._timeout,
            isolation=isolation,
        )


def plant(sandbox: Sandbox, bundle: Bundle) -> None:
    """Put the tests in, and let whoever runs them write a reward.

    Raises:
        InfrastructureError: The machine failed.
    """
    files = folder_files(bundle.files, TESTS)
    directories = {TESTS: 0o755, VERIFIER_DIR.strip("/"): 0o777}
    with pack(files, directories=directories, executable=real_path(bundle.files, SCRIPT)) as archive:
        sandbox.put("/", archive)


def run_tests(
    sandbox: Sandbox, bundle: Bundle, *, workdir: str, user: str | None, timeout: float, isolation: Isolation
) -> Verification:
    """Run the `/tests/test.sh` that is in a sandbox, and read the reward that it writes.

    Args:
        sandbox: Has the tests, and an empty directory for the reward.
        bundle: Its `[verifier.env]` is passed on.
        workdir: Where the script starts.
        user: Who runs it; None is the image's user.
        timeout: Seconds.
        isolation: What the result says of where they ran.

    Raises:
        InfrastructureError: The machine failed.
    """
    result = sandbox.exec(
        launch(f"/{SCRIPT}", workdir),
        timeout=timeout,
        env=resolve_env(bundle.config.verifier_env, {})[0],
        user=user,
        cwd="/",
        output_limit=OUTPUT_LIMIT,
    )
    reward = RewardFault.TIMEOUT if result.timed_out else read_reward(sandbox)
    return _verification(reward, result, isolation)


def _verification(reward: Reward | RewardFault, result: ExecResult, isolation: Isolation) -> Verification:
    fault = reward if isinstance(reward, RewardFault) else None
    return Verification(
        reward=reward.value if isinstance(reward, Reward) else None,
        fault=fault,
        metrics=reward.metrics if isinstance(reward, Reward) else {},
        isolation=isolation,
        exit_code=result.exit_code,
        oom=result.oom,
        limits=result.limits,
        duration_s=result.duration_s,
        output_tail=tail(result.stdout + result.stderr),
    )


def nothing(isolation: Isolation, why: str) -> Verification:
    """There is no reward, because the tests could not even be started."""
    return Verification(reward=None, fault=RewardFault.MISSING, isolation=isolation, output_tail=why)
