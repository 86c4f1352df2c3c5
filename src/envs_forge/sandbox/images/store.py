"""From a bundle to its image: find it by content, else build it, once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import docker

from envs_forge.bundle.links import find_file
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.errors import EngineError
from envs_forge.sandbox.docker.connection import connect, translated
from envs_forge.sandbox.images.base_map import BaseMap
from envs_forge.sandbox.images.bases import Bases, Resolution
from envs_forge.sandbox.images.build import BuildRun, run_build
from envs_forge.sandbox.images.build_limits import BuildGroup, build_place, is_nearly_full
from envs_forge.sandbox.images.context import DOCKERFILE, FOLDER, environment_files, write_context
from envs_forge.sandbox.images.dockerfile import Dockerfile, DockerfileError, decode, encode, parse
from envs_forge.sandbox.images.failures import bundle_code, machine_fault, verdict_line
from envs_forge.sandbox.images.local import LocalImages
from envs_forge.sandbox.images.model import BuildCode, BuildFault, BuiltImage
from envs_forge.sandbox.images.registry import Registries, RegistryPolicy
from envs_forge.sandbox.images.rewrite import references, rewrite, special_syntax
from envs_forge.sandbox.images.tagging import image_tag
from envs_forge.sandbox.temporary import temporary_directory
from envs_forge.sandbox.uses import Uses, cache_root

TAIL_CHARS = 8000
KILLED = " (the memory limit of builds killed a process)"


class ImageStore:
    """Images of bundles. Thread-safe: two threads that want the same image build it once.

    Args:
        client: Connection to the engine; default the one that the `docker` command uses.
        base_images: Stand-ins of this site, before the packaged ones: pattern → local image.
        registry: When registries are asked for base images.
        network: Whether build steps have a network.
        uses: Where it is written down which images are in use.
    """

    def __init__(
        self,
        client: docker.APIClient | None = None,
        *,
        base_images: Mapping[str, str] | None = None,
        registry: RegistryPolicy = RegistryPolicy.FIRST,
        network: bool = True,
        uses: Uses | None = None,
    ) -> None:
        self._client = client or connect()
        self.local = LocalImages(self._client)
        self._registries = Registries()
        self._bases = Bases(self.local, BaseMap(base_images), self._registries, registry)
        self._network = network
        self._uses = uses or image_uses()
        self._group: BuildGroup | None = None
        self._data: Path | None = None
        self._running: dict[str, Future[BuiltImage | BuildFault]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def close(self) -> None:
        """Stop the builds that are under way and begin no more. Idempotent."""
        self._closed.set()

    def ensure(self, bundle: Bundle) -> BuiltImage | BuildFault:
        """The bundle's image, built if it is not here.

        Raises:
            InfrastructureError: The machine failed, not the bundle.
        """
        began = time.monotonic()
        dockerfile = find_file(bundle.files, FOLDER + DOCKERFILE)
        if dockerfile is not None:
            outcome = self._from_dockerfile(bundle, dockerfile.data)
        elif bundle.config.environment.docker_image:
            outcome = self._from_name(bundle.config.environment.docker_image)
        else:
            outcome = BuildFault(code=BuildCode.NO_IMAGE, message="no environment/Dockerfile and no docker_image")
        return _timed(outcome, time.monotonic() - began)

    def _from_dockerfile(self, bundle: Bundle, data: bytes) -> BuiltImage | BuildFault:
        try:
            dockerfile = parse(decode(data))
        except DockerfileError as error:
            return BuildFault(code=BuildCode.BAD_DOCKERFILE, message=str(error))
        files = environment_files(bundle.files)
        names = dict.fromkeys(reference.name for reference in references(dockerfile))
        as_named = self._bases.as_named(names)
        found = self._find(files, as_named) if as_named else None
        if found is not None:
            return found
        resolution = self._bases.resolve(names)
        if resolution.missing:
            return _unavailable(resolution.missing)
        tag = image_tag(files, resolution.ids, network=self._network)
        self._uses.note(tag)
        timeout = bundle.config.environment.build_timeout_sec
        return self._once(tag, lambda: self._build(tag, files, dockerfile, resolution, timeout))

    def _find(self, files: Mapping[str, BundleFile], resolution: Resolution) -> BuiltImage | None:
        tag = image_tag(files, resolution.ids, network=self._network)
        image = self.local.find(tag)
        if image is not None and self._uses.note(tag):
            image = self.local.find(tag)  # it may have been removed before that was written down
        return BuiltImage(image, resolution.substitutions) if image is not None else None

    def _build(
        self,
        tag: str,
        files: Mapping[str, BundleFile],
        dockerfile: Dockerfile,
        resolution: Resolution,
        timeout: float,
    ) -> BuiltImage | BuildFault:
        present = self.local.find(tag)
        if present is not None:
            return BuiltImage(present, resolution.substitutions)
        syntax = special_syntax(dockerfile)
        keep_syntax = syntax is not None and self._registries.has(syntax)
        text = rewrite(dockerfile, resolution.substitutions, keep_syntax=keep_syntax)
        context = {**files, DOCKERFILE: BundleFile(data=encode(text))}
        with temporary_directory("build") as folder:
            try:
                write_context(context, folder)
            except ValueError as error:
                return BuildFault(code=BuildCode.FAILED, message=str(error), substitutions=resolution.substitutions)
            run, strained = self._run(folder, tag, timeout)
        if run.exit_code == 0:
            return self._built(tag, resolution)
        fault = _fault(run.exit_code, run.log, timeout, resolution.substitutions)
        killed = strained and "exit code: 137" in fault.message
        return fault.model_copy(update={"message": fault.message + KILLED}) if killed else fault

    def _run(self, folder: Path, tag: str, timeout: float) -> tuple[BuildRun, bool]:
        """Build within the limits, and say whether builds met the memory limit meanwhile."""
        with self._lock:
            if self._group is None:
                self._group, self._data = build_place(self._client)
        data = self._data
        with self._group.held() as limits:
            run = run_build(
                folder,
                tag,
                timeout=timeout,
                network=self._network,
                cancelled=self._closed,
                limits=limits,
                disk_full=lambda: is_nearly_full(data),
            )
            return run, self._group.strained()

    def _built(self, tag: str, resolution: Resolution) -> BuiltImage:
        image = self.local.find(tag)
        if image is None:
            raise EngineError("the engine built an image and does not have it")
        return BuiltImage(image, resolution.substitutions, built=True)

    def _from_name(self, name: str) -> BuiltImage | BuildFault:
        resolution = self._bases.resolve([name])
        if resolution.missing:
            return _unavailable(resolution.missing)
        wanted = resolution.substitutions.get(name, name)
        return self._once(wanted, lambda: self._pull(wanted, resolution))

    def _pull(self, name: str, resolution: Resolution) -> BuiltImage | BuildFault:
        image = self.local.find(name)
        if image is None:
            with translated(f"pull {name}"):
                self._client.pull(name)
            image = self.local.find(name)
        return BuiltImage(image, resolution.substitutions) if image is not None else _unavailable((name,))

    def _once(self, key: str, make: Callable[[], BuiltImage | BuildFault]) -> BuiltImage | BuildFault:
        """Let the first thread make it; the others wait and share what came of it."""
        with self._lock:
            running = self._running.get(key)
            future = running or self._running.setdefault(key, Future())
        if running is not None:
            return running.result()
        try:
            outcome = make()
        except BaseException as error:
            future.set_exception(error)
            raise
        else:
            future.set_result(outcome)
            return outcome
        finally:
            with self._lock:
                del self._running[key]


def image_uses() -> Uses:
    """Which built images are in use, by tag."""
    return Uses(cache_root() / "image-uses")


def _timed(outcome: BuiltImage | BuildFault, seconds: float) -> BuiltImage | BuildFault:
    if isinstance(outcome, BuiltImage):
        return replace(outcome, duration_s=seconds)
    return outcome.model_copy(update={"duration_s": seconds})


def _unavailable(names: tuple[str, ...]) -> BuildFault:
    listed = ", ".join(names)
    message = f"{listed}: not here, no registry answers for it, and the base-image map has no stand-in"
    return BuildFault(code=BuildCode.BASE_UNAVAILABLE, message=message)


def _fault(exit_code: int | None, log: str, timeout: float, substitutions: Mapping[str, str]) -> BuildFault:
    """The bundle's fault as data.

    Raises:
        InfrastructureError: It was the machine's.
    """
    if exit_code is None:
        code, message = BuildCode.TIMEOUT, f"the build took longer than {timeout:g} s"
    else:
        fault = machine_fault(log)
        if fault is not None:
            raise fault
        code, message = bundle_code(log), verdict_line(log)
    return BuildFault(code=code, message=message, log_tail=log[-TAIL_CHARS:], substitutions=substitutions)
