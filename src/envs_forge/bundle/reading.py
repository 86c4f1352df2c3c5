"""A task directory on disk → `Bundle`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from envs_forge.bundle.compose import COMPOSE, laid_over
from envs_forge.bundle.config import FILE, parse_config
from envs_forge.bundle.finding import BundleError, Finding, errors_of
from envs_forge.bundle.formats.terminal_bench import is_terminal_bench, to_harbor
from envs_forge.bundle.links import find_file
from envs_forge.bundle.model import Bundle, BundleFile, TaskConfig
from envs_forge.bundle.tree import DEFAULT_LIMITS, SizeLimits, read_tree
from envs_forge.bundle.writing import check_writable
from envs_forge.errors import UserError

INSTRUCTION = "instruction.md"


def read_bundle(path: str | Path, *, limits: SizeLimits = DEFAULT_LIMITS) -> Bundle:
    """Read a task directory as a whole: Harbor's layout, or Terminal-Bench 1's, which becomes Harbor's.

    What can be read may still be unusable (no tests, a test script with CRLF): `check_bundle` says so.

    Args:
        path: The directory. Its name becomes the bundle's id.
        limits: Sizes beyond which it is refused.

    Raises:
        UserError: There is no such directory.
        BundleError: It is no bundle: no or broken `task.toml`, no `instruction.md`, links that escape, special
            files, too large. All reasons are in its `findings`.
    """
    root = directory(path)
    bundle, findings = try_read(root, limits)
    if bundle is None:
        raise BundleError(str(path), errors_of(findings))
    return bundle


def directory(path: str | Path) -> Path:
    """The directory that `path` names, resolved.

    Raises:
        UserError: It is not there or not a directory.
    """
    root = Path(path)
    if not root.exists():
        raise UserError(f"{path}: no such directory", fix="check the path")
    if not root.is_dir():
        raise UserError(f"{path}: not a directory", fix="a task is a directory with task.toml and instruction.md")
    return root.resolve()


def try_read(root: Path, limits: SizeLimits = DEFAULT_LIMITS) -> tuple[Bundle | None, list[Finding]]:
    """Read what is there.

    Returns:
        The bundle, or None when a finding among those returned is an error; warnings come with a bundle.
    """
    files, found = read_files(root, limits)
    if not files and errors_of(found):
        return None, found
    bundle, findings = bundle_from_files(root.name, files)
    findings = found + findings
    return (None if errors_of(findings) else bundle), findings


def read_files(root: Path, limits: SizeLimits = DEFAULT_LIMITS) -> tuple[dict[str, BundleFile], list[Finding]]:
    """The files of a task directory in Harbor's layout, whatever the layout on disk, and what was wrong with them."""
    tree = read_tree(root, limits)
    if not is_terminal_bench(tree.files):
        return tree.files, tree.findings
    files, findings = to_harbor(tree.files)
    return files, tree.findings + findings


def make_bundle(name: str, files: Mapping[str, BundleFile]) -> Bundle:
    """Make a bundle in memory; `config` is derived from its `task.toml`.

    Raises:
        BundleError: `task.toml` or `instruction.md` is missing or broken, a path or link leaves the bundle.
    """
    bundle, findings = bundle_from_files(name, files)
    if bundle is None:
        raise BundleError(name, errors_of(findings))
    check_writable(bundle)
    return bundle


def bundle_from_files(name: str, files: Mapping[str, BundleFile]) -> tuple[Bundle | None, list[Finding]]:
    """Make a bundle from its files, deriving `config` from `task.toml`.

    Returns:
        The bundle, or None with at least one error.
    """
    manifest = _regular(files, FILE)
    if manifest is None:
        fix = "a task is a directory with task.toml, instruction.md, environment/, solution/ and tests/"
        return None, [Finding(code="toml-missing", file=FILE, message="no regular file task.toml", fix=fix)]
    config, findings = parse_config(manifest.data)
    if config is None:
        return None, findings
    if _regular(files, INSTRUCTION) is None and not config.steps:
        message, fix = "no regular file instruction.md", "write what the agent is asked to do"
        findings.append(Finding(code="instruction-missing", file=INSTRUCTION, message=message, fix=fix))
        return None, findings
    return Bundle(id=name, files=files, config=_with_compose(config, files)), findings


def _with_compose(config: TaskConfig, files: Mapping[str, BundleFile]) -> TaskConfig:
    """A task's own compose file has the last word on the agent's container."""
    compose = find_file(files, COMPOSE)
    if compose is None:
        return config
    return config.model_copy(update={"environment": laid_over(compose.data, config.environment)})


def _regular(files: Mapping[str, BundleFile], path: str) -> BundleFile | None:
    file = files.get(path)
    return file if file is not None and file.target is None else None
