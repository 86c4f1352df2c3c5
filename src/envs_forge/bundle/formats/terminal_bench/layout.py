"""The files of a Terminal-Bench directory → the files of a Harbor one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from envs_forge.bundle.compose import services_of
from envs_forge.bundle.finding import Finding
from envs_forge.bundle.formats.terminal_bench import scripts
from envs_forge.bundle.formats.terminal_bench.description import FILE, Description, parse_description, task_toml
from envs_forge.bundle.formats.terminal_bench.service import MAIN, Service, service_of
from envs_forge.bundle.model import BundleFile

Files = Mapping[str, BundleFile]
COMPOSE = ("docker-compose.yaml", "docker-compose.yml")
_OWN = (FILE, *COMPOSE, scripts.RUN_TESTS, "solution.sh", "solution.yaml")
"""Files that Terminal-Bench itself reads; the image gets them only where its Dockerfile names them."""


def is_terminal_bench(files: Files) -> bool:
    """Whether these are the files of a Terminal-Bench task."""
    return FILE in files and "task.toml" not in files


def to_harbor(files: Files) -> tuple[dict[str, BundleFile], list[Finding]]:
    """Convert a whole task.

    What cannot be said in a Harbor task is kept where `unsupported` finds it: a compose file for several containers
    or odd keys, the parser's name in `[metadata.terminal_bench]`.

    Returns:
        The files of a Harbor task, and findings; the files are unusable when one of these is an error.
    """
    description, findings = parse_description(files[FILE].data)
    if description is None:
        return {}, findings
    compose = next((files[name] for name in COMPOSE if name in files), None)
    services = services_of(compose.data) if compose is not None else {MAIN: {}}
    if not services:
        message = "no services can be read from it"
        return {}, [Finding(code="compose-unreadable", file=COMPOSE[0], message=message, fix="correct it")]
    service = service_of(services)
    solution, keystrokes = _solution(files)
    result = _image(files, service)
    result["instruction.md"] = BundleFile(data=description.text.rstrip("\n").encode() + b"\n")
    result["task.toml"] = BundleFile(data=task_toml(description, service, _canary(files[FILE]), keystrokes=keystrokes))
    result |= _tests(files, description)
    if solution is not None:
        result["solution/solve.sh"] = solution
    return result, []


def _canary(file: BundleFile) -> list[str]:
    """Leading comments of `task.yaml`: marks by which a leak into training data is found."""
    lines: list[str] = []
    for line in file.data.decode("utf-8-sig", errors="replace").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line)
    return [line for line in lines if line.strip("# ")]


def _image(files: Files, service: Service) -> dict[str, BundleFile]:
    """Everything that the image is built from, under environment/."""
    prefix = "" if service.context == "." else service.context + "/"
    source = files.get(prefix + service.dockerfile)
    dockerfile = source.data.decode(errors="replace") if source is not None else ""
    result: dict[str, BundleFile] = {}
    for path, file in files.items():
        if not path.startswith(prefix):
            continue
        name = path.removeprefix(prefix)
        own = not prefix and (name in _OWN or name.startswith("tests/"))
        if not own or _is_named(dockerfile, name):
            result[f"environment/{name}"] = file
    if source is not None and service.dockerfile != "Dockerfile":
        result["environment/Dockerfile"] = source
    if service.document is not None:
        result = _other_services(files, service) | result
    return result


def _is_named(dockerfile: str, path: str) -> bool:
    """Whether the Dockerfile copies this file, or the folder that it lies in, by name."""
    name = re.escape(path.split("/", 1)[0])
    return re.search(rf"(?m)^\s*(?:COPY|ADD)\s[^\n]*?(?<![\w/.-])(?:\./)?{name}(?![\w.-])", dockerfile) is not None


def _other_services(files: Files, service: Service) -> dict[str, BundleFile]:
    """The compose file for Harbor and what its other services are built from."""
    import yaml

    text = yaml.safe_dump(service.document, sort_keys=False, allow_unicode=True)
    result = {"environment/docker-compose.yaml": BundleFile(data=text.encode())}
    if service.context != ".":
        prefix = service.context + "/"
        others = {path: file for path, file in files.items() if not path.startswith((prefix, "tests/"))}
        result |= {f"environment/{path}": file for path, file in others.items() if path not in _OWN}
    return result


def _tests(files: Files, description: Description) -> dict[str, BundleFile]:
    result = {path: file for path, file in files.items() if path.startswith("tests/")}
    script = files.get(scripts.RUN_TESTS)
    if script is None and "tests/run-tests.sh" not in result and not any(p.endswith(".py") for p in result):
        return result
    run = script if script is not None else result.get("tests/run-tests.sh")
    run = run if run is not None else BundleFile(data=scripts.DEFAULT_RUN_TESTS)
    result["tests/run-tests.sh"] = run.model_copy(update={"mode": 0o755})
    for name, data in scripts.SHARED.items():
        if name.encode() in run.data:
            result.setdefault(f"tests/{name}", BundleFile(data=data, mode=0o755))
    result["tests/test.sh"] = scripts.test_sh(description.parser_name)
    return result


def _solution(files: Files) -> tuple[BundleFile | None, bool]:
    """The oracle, and whether there is one that types keys instead of command lines."""
    if "solution.sh" in files:
        return scripts.solve_sh(files["solution.sh"].data), False
    if "solution.yaml" not in files:
        return None, False
    script = scripts.solve_from_keystrokes(files["solution.yaml"].data)
    return script, script is None
