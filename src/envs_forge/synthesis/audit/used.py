"""Which files of a bundle are used, as far as that can be told from what names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from envs_forge.bundle.model import Bundle, BundleFile, Part
from envs_forge.sandbox.images.dockerfile import DockerfileError, decode, parse
from envs_forge.sandbox.images.steps import name_in_context, sources_of, step_of
from envs_forge.synthesis.bounded import bounded

_CONTEXT = "environment/"
_DOCKERFILE = "environment/Dockerfile"
_ENTRIES: Mapping[Part, tuple[str, ...]] = {
    Part.SOLUTION: ("solution/solve.sh",),
    Part.TESTS: ("tests/test.sh", "tests/Dockerfile"),
}
_FINDERS = re.compile(
    r"\b(?:glob|rglob|iglob|iterdir|listdir|scandir|walk|find|ls|rsync|tar|pytest|unittest|bats|make|npm|npx|node|cargo"
    r"|go|mvn|gradle|ctest|tox|run-parts|compgen)\b"
)
"""Commands and functions that look for files themselves: then nothing is known to be unused."""
_PATTERN = re.compile(r"[\w.?\[\]-]*\*[\w.?*\[\]-]*")
_WHOLE_FOLDER = re.compile(r"\b(?:cp|mv|diff)\s+-\w*[rRa]|copytree|COPY|ADD|/\*|\s\*(?=[\s;]|$)")
_WORD = re.compile(r"[a-z]{2,}")


def used_files(bundle: Bundle, part: Part, files: Mapping[str, BundleFile]) -> Mapping[str, BundleFile]:
    """The files of a part less those that nothing can use. In doubt a file is used.

    Data is used when the Dockerfile may copy it, alone or with its folder. A file of the solution or of the tests is
    used when it is where these begin, or when a used file has a word of its name, or looks for files itself.
    """
    if part is Part.DATA:
        return _copied(bundle, files)
    if part not in _ENTRIES or _ENTRIES[part][0] not in files:
        return files
    return {path: files[path] for path in sorted(_reached(files, _ENTRIES[part]))}


def _reached(files: Mapping[str, BundleFile], entries: Iterable[str]) -> set[str]:
    reached: set[str] = set()
    todo = [path for path in entries if path in files]
    while todo:
        reached.update(todo)
        text = "\n".join(_text(files[path]) for path in todo)
        left = [path for path in files if path not in reached]
        if _FINDERS.search(text) or _WHOLE_FOLDER.search(text):
            return {*files}
        patterns = {match for match in _PATTERN.findall(text) if match.strip("*")}
        words = text.lower()
        todo = [path for path in left if _named(path, words, patterns)]
    return reached


def _named(path: str, words: str, patterns: set[str]) -> bool:
    """Whether a text has a word of a file's name or of its folder's: `case$number.txt` names `case12.txt`."""
    name = PurePosixPath(path)
    folders = name.parts[1:-1]
    parts = {word for piece in (name.stem, *folders) for word in _WORD.findall(piece.lower())}
    return not parts or any(word in words for word in parts) or any(fnmatchcase(name.name, p) for p in patterns)


def _text(file: BundleFile) -> str:
    return bounded(file.data.decode("utf-8", "replace")) if file.target is None else file.target


def _copied(bundle: Bundle, files: Mapping[str, BundleFile]) -> Mapping[str, BundleFile]:
    """The files below `environment/` that the Dockerfile takes; all of them where it may take what it does not name."""
    if _DOCKERFILE not in bundle.files or any("compose" in path for path in bundle.files if path.startswith(_CONTEXT)):
        return files
    try:
        read = parse(decode(bundle.files[_DOCKERFILE].data))
    except DockerfileError:
        return files
    steps = [step_of(read.text, instruction) for instruction in read.instructions]
    taken: list[str] = []
    for step in steps:
        sources = [name_in_context(source) for source in sources_of(step)]
        certain = step.keyword in ("COPY", "ADD") and len(sources) == len(step.words) - 1
        if step.keyword == "RUN" and any("--mount" in flag for flag in step.flags):
            return files
        if step.keyword in ("COPY", "ADD") and not certain and not any(f.startswith("--from") for f in step.flags):
            return files
        taken += sources
    if "." in taken:
        return files
    return {
        path: file
        for path, file in files.items()
        if any(path == _CONTEXT + name or path.startswith(f"{_CONTEXT}{name}/") for name in taken)
    }
