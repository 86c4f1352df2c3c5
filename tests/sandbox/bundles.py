"""Bundles for tests, from a few strings."""

from collections.abc import Mapping

from envs_forge.bundle.model import Bundle, BundleFile, EnvironmentConfig, TaskConfig

PASSES = "#!/bin/bash\nmkdir -p /logs/verifier\necho 1 > /logs/verifier/reward.txt\n"


def bundle(
    dockerfile: str | None = "FROM debian:12.11-slim\nWORKDIR /app\n",
    files: Mapping[str, str | bytes | BundleFile] | None = None,
    *,
    config: TaskConfig | None = None,
    **environment: object,
) -> Bundle:
    """A bundle with no network; `files` are by path in the task directory."""
    made: dict[str, BundleFile] = {}
    if dockerfile is not None:
        made["environment/Dockerfile"] = BundleFile(data=dockerfile.encode())
    for path, content in (files or {}).items():
        if isinstance(content, BundleFile):
            made[path] = content
        else:
            made[path] = BundleFile(data=content.encode() if isinstance(content, str) else content)
    wanted = EnvironmentConfig.model_validate({"network": False, **environment})
    return Bundle(id="test", files=made, config=(config or TaskConfig()).model_copy(update={"environment": wanted}))


def task(test: str = PASSES, solve: str = "#!/bin/bash\ntrue\n", **environment: object) -> Bundle:
    """A bundle with these two scripts."""
    return bundle(files={"tests/test.sh": test, "solution/solve.sh": solve}, **environment)
