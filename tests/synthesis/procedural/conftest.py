"""Sandboxes for procedural bundles."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from envs_forge.bundle import make_bundle
from envs_forge.bundle.model import BundleFile
from envs_forge.errors import PrerequisiteError
from envs_forge.sandbox.auto import make_engine
from envs_forge.sandbox.images.model import BuiltImage
from envs_forge.sandbox.images.store import ImageStore
from envs_forge.synthesis.procedural.render import BASE, INSTALL
from synthesis.procedural.arena import Arena

TASK = b'schema_version = "1.4"\n[task]\nname = "envs-forge/arena"\n[environment]\nnetwork_mode = "no-network"\n'


@pytest.fixture(scope="session")
def arena() -> Iterator[Arena]:
    """The engine that `auto` chooses, and the image whose layers all procedural bundles share."""
    files = {"instruction.md": b"Nothing.", "task.toml": TASK}
    files |= {"environment/Dockerfile": f"FROM {BASE}\n{INSTALL}\nWORKDIR /app\n".encode()}
    try:
        engine = make_engine("auto")
    except PrerequisiteError as error:
        pytest.skip(str(error))
    try:
        built = ImageStore().ensure(make_bundle("arena", {p: BundleFile(data=d) for p, d in files.items()}))
        assert isinstance(built, BuiltImage), built
        yield Arena(engine, built.image)
    finally:
        engine.close()
