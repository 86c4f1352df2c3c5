"""An envelope → a whole bundle, or the one typed reason why not. Nothing partial ever comes out."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle.check import DOCKERFILE, SOLUTION, TEST, check_bundle
from envs_forge.bundle.config import FILE
from envs_forge.bundle.finding import BundleError, errors_of
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import INSTRUCTION, make_bundle
from envs_forge.bundle.text import crlf_finding
from envs_forge.errors import UserError
from envs_forge.sandbox.images.dockerfile import DockerfileError, decode, parse
from envs_forge.sandbox.images.steps import name_in_context, sources_of, step_of
from envs_forge.synthesis.llm.declared import declared_skills
from envs_forge.synthesis.llm.envelope import Envelope, EnvelopeLimits, FaultError, read_envelope
from envs_forge.synthesis.llm.faults import AnswerFault, Unreadable
from envs_forge.synthesis.llm.manifest import manifest

FOLDERS = ("environment/", "solution/", "tests/")
NEEDED = (INSTRUCTION, DOCKERFILE, SOLUTION, TEST)
"""Without these a task lacks a part; data may be made by the Dockerfile."""
NAME = "candidate"


def parse_answer(
    text: str,
    parent: Bundle,
    *,
    limits: EnvelopeLimits = EnvelopeLimits(),  # noqa: B008 - frozen
) -> tuple[Bundle, Envelope] | Unreadable:
    """Make a bundle of an answer.

    Args:
        text: What the model wrote, as it came.
        parent: The seed: `KEEP` refers to its files, and its `task.toml` gives the limits.
        limits: What an answer may weigh.

    Returns:
        The bundle, called `candidate`, and the envelope it came in; or why there is none.
    """
    envelope = read_envelope(text, limits=limits)
    if isinstance(envelope, Unreadable):
        return envelope
    try:
        return assemble(envelope, parent), envelope
    except FaultError as error:
        return error.found


def assemble(envelope: Envelope, parent: Bundle) -> Bundle:
    """A bundle of the files of an envelope and those that it keeps.

    Raises:
        FaultError: They are no task.
    """
    files = {**_kept(envelope, parent), **envelope.files}
    for path, file in files.items():
        _check_file(path, file)
    for path in NEEDED:
        if path not in files or not (files[path].target or files[path].data.strip()):
            raise FaultError(AnswerFault.PART_MISSING, f"{path} is missing or empty")
    _check_data(files)
    written = envelope.files.get(FILE)
    instruction = files[INSTRUCTION].data.decode(errors="replace")
    data = manifest(written.data if written else None, parent, instruction, declared_skills(envelope.meta))
    files[FILE] = BundleFile(data=data)
    return _sound(files)


def _kept(envelope: Envelope, parent: Bundle) -> dict[str, BundleFile]:
    found: dict[str, BundleFile] = {}
    for path in envelope.keep:
        if path in envelope.files:
            raise FaultError(AnswerFault.DUPLICATE_FILE, f"{path} is written and kept")
        files = {p: f for p, f in parent.files.items() if p == path or (path.endswith("/") and p.startswith(path))}
        if not files:
            raise FaultError(AnswerFault.KEEP_UNKNOWN, f"the seed has no {path}")
        found |= files
    return found


def _check_data(files: Mapping[str, BundleFile]) -> None:
    """Data that the image is built from must be there. The build would fail too, but that says less to a model."""
    if any(path.startswith("environment/") and path != DOCKERFILE for path in files):
        return
    copied = _copied(files[DOCKERFILE].data)
    if copied:
        names = ", ".join(copied)[:80]
        text = f"the Dockerfile copies {names}, but no file of data stands under environment/: write or KEEP it"
        raise FaultError(AnswerFault.PART_MISSING, text)


def _copied(dockerfile: bytes) -> list[str]:
    """What a Dockerfile takes from its context; `COPY . …` is content with the Dockerfile alone."""
    try:
        read = parse(decode(dockerfile))
    except DockerfileError:
        return []  # the checks of the whole bundle say what is wrong with it
    sources = [source for instruction in read.instructions for source in sources_of(step_of(read.text, instruction))]
    return [source for source in sources if name_in_context(source) != "."]


def _check_file(path: str, file: BundleFile) -> None:
    if path not in (INSTRUCTION, FILE) and not path.startswith(FOLDERS):
        where = f"{INSTRUCTION}, {FILE}, {', '.join(FOLDERS)}"
        raise FaultError(AnswerFault.PATH_FOREIGN, f"{path} belongs to no part of a task ({where})")
    script = path in (DOCKERFILE, FILE) or (path.endswith(".sh") and not path.startswith("environment/data/"))
    found = crlf_finding(path, file.data, script=True) if script else None
    if found is not None:
        raise FaultError(AnswerFault.CRLF, f"{path}, line {found.line}: {found.message}")


def _sound(files: Mapping[str, BundleFile]) -> Bundle:
    try:
        bundle = make_bundle(NAME, files)
    except BundleError as error:
        escapes = any(finding.code.startswith("link-") for finding in error.findings)
        raise FaultError(AnswerFault.PATH_ESCAPES if escapes else AnswerFault.BUNDLE, error.message) from None
    except UserError as error:
        raise FaultError(AnswerFault.BUNDLE, error.message) from None
    wrong = errors_of(check_bundle(bundle))
    if wrong:
        encoding = all(finding.code.startswith(("encoding", "nul", "byte-order")) for finding in wrong)
        code = AnswerFault.ENCODING if encoding else AnswerFault.BUNDLE
        raise FaultError(code, "; ".join(map(str, wrong[:5])))
    return bundle
