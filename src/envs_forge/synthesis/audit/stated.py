"""Is everything that the tests hold an answer against said in the instruction?

An answer is computed, so the oracle does not have it as a constant. What stands as a constant both in the checks and in
the oracle is a demand, and the instruction has to state it.
"""

from __future__ import annotations

from collections.abc import Iterator

from envs_forge.bundle.model import Part
from envs_forge.synthesis.audit.literals import paths_of
from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.audit.parts import files_of
from envs_forge.synthesis.audit.statements import SMALL, TELLING, Statements, listed

_HARNESS = ("/tests", "/logs", "/tmp", "/solution", "/dev", "/proc", "/sys", "/usr", "/bin", "/sbin", "/lib", "/run")
_ROOTS = {"app", "opt", "srv", "var", "home", "etc", "data", "root", "mnt", "workspace", "work"}


def unstated_paths(what: Statements) -> Iterator[Finding]:
    """Paths that tests look at and that neither the instruction nor the environment speaks of."""
    said = paths_of(what.instruction)
    given = {path.removeprefix("environment/") for path in files_of(what.bundle, Part.DATA)}
    roots = _ROOTS | {path.split("/")[1] for path in said}
    found = {path for path in what.tests.paths if path.split("/")[1] in roots}
    missing = [path for path in sorted(found) if not _is_stated(path, said, given, what)]
    if missing:
        evidence = f"tests look at {listed(missing)}, which the instruction does not name"
        yield Finding(AuditCode.UNSTATED_PATH, evidence, "instruction.md")


def _is_stated(path: str, said: set[str], given: set[str], what: Statements) -> bool:
    """Whether a path is no demand, or one that the agent can know of."""
    name = path.rsplit("/", 1)[-1]
    if f"{path}/".startswith(tuple(f"{place}/" for place in _HARNESS)) or path.count("/") < 2 or "*" in path:
        return True
    if name not in what.solution_text:
        return True
    if path in said or any(other.startswith(f"{path}/") for other in said) or what.says(name):
        return True
    return path in what.environment or any(f"/{file}".endswith(f"/{name}") for file in given)


def unstated_keys(what: Statements) -> Iterator[Finding]:
    """Keys that tests read from an answer and that only the oracle knows."""
    written = what.solution.texts | what.solution.keys
    missing = [
        key
        for key in sorted(what.tests.keys & written)
        if TELLING.fullmatch(key) and not what.says(key) and key not in what.environment_words
    ]
    if missing:
        evidence = f"tests read the keys {listed(missing)}, which the solution writes and the instruction does not name"
        yield Finding(AuditCode.UNSTATED_KEY, evidence, "instruction.md")


def unstated_numbers(what: Statements) -> Iterator[Finding]:
    """Numbers that tests compare with, that the oracle has as constants, and that the instruction does not state."""
    shared = (what.tests.compared & what.solution.numbers) - what.numbers - SMALL
    if shared:
        evidence = f"tests and solution use {listed(sorted(shared))}, which the instruction does not state"
        yield Finding(AuditCode.UNSTATED_NUMBER, evidence, "instruction.md")
