"""Names a prebuilt image in `task.toml`, for readers that pull images and do not build them."""

from __future__ import annotations

from envs_forge.bundle.config import FILE, parse_config, toml_table
from envs_forge.bundle.finding import BundleError, errors_of
from envs_forge.bundle.model import Bundle
from envs_forge.errors import InvariantError


def set_docker_image(bundle: Bundle, image: str) -> Bundle:
    """The same bundle with `docker_image` set in `[environment]`; everything else of the file stays as it is written.

    The content hash changes, as the task then is another one to its readers.

    Raises:
        BundleError: The file would not be readable afterwards.
    """
    import tomlkit

    old = bundle.files[FILE].data
    document = tomlkit.parse(old.decode())
    if "environment" not in document:
        document["environment"] = tomlkit.table()
    document["environment"]["docker_image"] = image
    data = tomlkit.dumps(document).encode()
    expected = toml_table(old)
    expected.setdefault("environment", {})["docker_image"] = image
    if toml_table(data) != expected:
        raise InvariantError(f"{bundle.id}: task.toml would have lost or changed a key when docker_image was set")
    config, findings = parse_config(data)
    if config is None:
        raise BundleError(bundle.id, errors_of(findings))
    environment = bundle.config.environment.model_copy(update={"docker_image": image})
    file = bundle.files[FILE].model_copy(update={"data": data})
    return bundle.model_copy(
        update={
            "files": {**bundle.files, FILE: file},
            "config": bundle.config.model_copy(update={"environment": environment}),
        }
    )
