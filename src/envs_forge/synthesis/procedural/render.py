"""From a worked-out composition to a Harbor task directory in memory."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from envs_forge.bundle import Bundle, make_bundle, set_provenance
from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.build import Build, Step, build
from envs_forge.synthesis.procedural.chain import skills
from envs_forge.synthesis.procedural.checks.assemble import TEST_SH, check_program
from envs_forge.synthesis.procedural.checks.model import focus_check, whole_check
from envs_forge.synthesis.procedural.composition import Composition
from envs_forge.synthesis.procedural.operation import Paths
from envs_forge.synthesis.procedural.wording import instruction

ROOT = "/app"
BASE = "debian:12.11-slim"
INSTALL = r"""# Install what the base image does not have.
RUN missing=""; \
    for pair in curl:curl=7.88.* git:git=1:2.39.* jq:jq=1.6-* python3:python3=3.11.* sqlite3:sqlite3=3.40.* \
            unzip:unzip=6.0-* zip:zip=3.0-*; do \
        command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"; \
    done; \
    if [ -n "$missing" ]; then \
        apt-get update && apt-get install -y --no-install-recommends $missing \
            && rm -rf /var/lib/apt/lists/*; \
    fi"""
TASK = """\
schema_version = "1.4"

[task]
name = "envs-forge/{name}"
description = "{title}"

[metadata]
category = "{category}"
tags = {tags}

[agent]
timeout_sec = 300.0

[verifier]
timeout_sec = 60.0

[environment]
build_timeout_sec = 300.0
network_mode = "no-network"
cpus = 1
memory_mb = 512
storage_mb = 1024
"""


def render(composition: Composition, name: str | None = None) -> Bundle:
    """The bundle of a composition; equal compositions and names give equal bytes.

    Args:
        composition: What to make.
        name: The bundle's id; by default made of the scenario and the composition's digest.

    Raises:
        NoDataError: No data was found for it.
    """
    return render_build(build(composition), name)


def render_build(made: Build, name: str | None = None) -> Bundle:
    """The bundle of a composition that has been worked out."""
    name = name or f"{made.composition.scenario}-{made.composition.digest}"
    files = {
        "instruction.md": instruction(made),
        "task.toml": _task(made, name),
        "environment/Dockerfile": dockerfile(made),
        "solution/solve.sh": solution(made),
        "tests/test.sh": TEST_SH,
        "tests/check.py": check_program(step.result.reader for step in made.steps),
        "tests/expected.json": _expected(made),
    }
    run_bits = {"solution/solve.sh", "tests/test.sh"}
    whole = {p: BundleFile(data=t.encode(), mode=0o755 if p in run_bits else 0o644) for p, t in files.items()}
    whole |= {f"environment/{path}": file for path, file in environment_files(made).items()}
    return set_provenance(make_bundle(name, whole), provenance(made.composition))


def provenance(composition: Composition) -> Mapping[str, Any]:
    """What the generator itself knows for `[metadata.envs_forge]`."""
    return {
        "spec_version": composition.version,
        "generator": "procedural",
        "skills": list(skills_of(composition)),
        "composition": composition.model_dump(mode="json"),
    }


def skills_of(composition: Composition) -> tuple[str, ...]:
    """Nodes of the skill graph that a composition exercises, sorted."""
    return tuple(sorted(skills(composition.uses)))


def environment_files(made: Build) -> Mapping[str, BundleFile]:
    """Files under `environment/`: the given data, and what services consist of."""
    found: dict[str, BundleFile] = {}
    for path, value in made.given.items():
        found |= {f"data{full.removeprefix(ROOT)}": file for full, file in value.files(path).items()}
    for step in made.steps:
        found |= step.operation.system(step.params)
    return found


def dockerfile(made: Build) -> str:
    """The image: the same first layers for every bundle, then the scenario's machine, then the data."""
    variables = list(made.scenario.variables.items())[: 2 + made.composition.weight]
    setup = [command for path, value in made.given.items() for command in value.setup(path)]
    lines = [f"FROM {BASE}", INSTALL, "WORKDIR /app"]
    lines += [f"ENV {name}={shlex.quote(value)}" for name, value in variables]
    copied = {path.split("/")[0] for path in environment_files(made)}
    lines += ["COPY data/ /app/"] if "data" in copied else []
    lines += [f"COPY {folder}/ /opt/{folder}/" for folder in sorted(copied - {"data"})]
    lines += ["RUN " + " \\\n    && ".join(setup)] if setup else []
    return "\n".join(lines) + "\n"


def solution(made: Build) -> str:
    """The oracle: one subshell a step."""
    parts = ["#!/bin/bash", "set -euo pipefail"]
    for number, step in enumerate(made.steps, 1):
        paths = Paths(*(shlex.quote(path) if path else "" for path in (step.source, step.target, step.side)))
        code = step.operation.solve(step.params, step.knobs, paths)
        parts += ["", f"# {number}. {step.operation.title}", "(", code.rstrip("\n"), ")"]
    return "\n".join(parts) + "\n"


def checks(step: Step, number: int) -> list[dict[str, Any]]:
    """One check for the whole result of a step and one for each of its knobs."""
    title = f"{number}. {step.operation.title}"
    knobs = sorted(step.knobs)
    return [
        whole_check(title, step.target, step.result),
        *(focus_check(f"{title}: {knob}", step.target, step.result, step.wrong[knob]) for knob in knobs),
    ]


def _expected(made: Build) -> str:
    found = [check for number, step in enumerate(made.steps, 1) for check in checks(step, number)]
    rows = ",\n".join(json.dumps(check, ensure_ascii=False) for check in found)
    return f"[\n{rows}\n]\n"


def _task(made: Build, name: str) -> str:
    nodes = skills_of(made.composition)
    domains = [skill.removeprefix("domain/") for skill in nodes if skill.startswith("domain/")]
    tags = [skill.rpartition("/")[2] for skill in nodes if skill.startswith(("operation/", "artifact/"))]
    title = ", ".join(step.operation.title for step in made.steps)
    return TASK.format(name=name, title=title, category=domains[0], tags=json.dumps(sorted(set(tags))))
