"""The answer envelope: a whole task as text that a model can write and a program can take apart.

    @@ META
    change: ties are broken by name
    @@ END
    @@ FILE solution/solve.sh mode=755
    #!/bin/bash
    …
    @@ END
    @@ LINK environment/data/current -> v2
    @@ KEEP environment/data/orders.csv

`KEEP` takes a file of the seed as it is, or with a slash at its end all files of a directory. Marks stand at the
beginning of a line; a line of a file that looks like one is written with a backslash before it. A file that is no plain
text has `encoding=base64`, one without a line feed at its end `end=open`. `write_envelope` and `read_envelope` are each
other's inverse for every bundle whose files can be read. `json_answer` takes the same as a JSON object.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from envs_forge.bundle.links import MAX_PATH_BYTES, path_fault
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.models.wire import storable
from envs_forge.synthesis.llm.faults import AnswerFault, Unreadable

_MARK = re.compile(r"\\*@@ ?(?:FILE|LINK|KEEP|META|END)\b")
_HEAD = re.compile(r"@@ ?(FILE|LINK|KEEP|META|END)\b")
_ATTRIBUTE = re.compile(r"(mode|encoding|end)=([\w-]+)")
_MODE = re.compile(r"[0-7]{3,4}")
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_.+,/-]+")
_FENCE = re.compile(r"```[\w.+-]*[ \t]*")
_THOUGHT = "</think>"
_ANSWERS = re.compile(r"^@@ ?(?:FILE|KEEP)\b|\{\s*\"", re.MULTILINE)
_DAMAGED = ("\0", "\ufffd")
_META_CHARS = 2000
_META_KEYS = 50
_MOST_ATTRIBUTES = 3


@dataclass(frozen=True)
class EnvelopeLimits:
    """What an answer may weigh."""

    chars: int = 2_000_000
    files: int = 500
    file_bytes: int = 1_000_000


@dataclass(frozen=True)
class Envelope:
    """An answer taken apart.

    Attributes:
        files: By path, as the bundle will hold them.
        meta: The short metadata block, keys in lower case.
        keep: Paths of the seed that are taken as they are; a directory ends with a slash.
        notes: What was tolerated: `prose`, `crlf`, `fenced`, `unclosed`, `repeated`, `json`.
    """

    files: Mapping[str, BundleFile]
    meta: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class FaultError(Exception):
    """Ends the reading of an answer."""

    def __init__(self, code: AnswerFault, evidence: str) -> None:
        super().__init__(evidence)
        self.found = Unreadable(code, evidence)


def default_mode(path: str, data: bytes) -> int:
    """Permission bits of a file that names none: scripts can be run."""
    return 0o755 if path.endswith(".sh") or data.startswith(b"#!") else 0o644


# Writing


def write_envelope(bundle: Bundle, *, meta: Mapping[str, str] | None = None) -> str:
    """A bundle as a model would answer it."""
    parts = []
    if meta:
        parts += ["@@ META", *(f"{key}: {' '.join(value.split())}" for key, value in meta.items()), "@@ END"]
    parts += [block(path, file) for path, file in sorted(bundle.files.items())]
    return "\n".join(parts) + "\n"


def block(path: str, file: BundleFile) -> str:
    """One file, without a line feed after its last mark."""
    shown = path if _PLAIN_PATH.fullmatch(path) else json.dumps(path)
    if file.target is not None:
        return f"@@ LINK {shown} -> {json.dumps(file.target)}"
    mode = "" if file.mode == default_mode(path, file.data) else f" mode={file.mode:o}"
    text = _as_text(file.data)
    if text is None:
        return f"@@ FILE {shown}{mode} encoding=base64\n{base64.b64encode(file.data).decode()}\n@@ END"
    lines = text.split("\n")
    closed = lines[-1] == ""
    body = "".join(f"{_escaped(line)}\n" for line in (lines[:-1] if closed else lines))
    return f"@@ FILE {shown}{mode}{'' if closed else ' end=open'}\n{body}@@ END"


def _as_text(data: bytes) -> str | None:
    """The file as text that survives the way, or None when it has to be encoded."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    odd = "\r" in text or text.startswith("\ufeff") or any(sign in text for sign in _DAMAGED)
    return None if odd or _FENCE.match(text) else text


def _escaped(line: str) -> str:
    return "\\" + line if _MARK.match(line) else line


# Reading


def read_envelope(text: str, *, limits: EnvelopeLimits = EnvelopeLimits()) -> Envelope | Unreadable:
    """Take an answer apart. Hostile input: whatever it is, the outcome is files or one typed fault.

    Paths are sound names inside a bundle; which files a task needs is not looked at here.
    """
    from envs_forge.synthesis.llm.jsonanswer import json_answer

    if len(text) > limits.chars:
        return Unreadable(AnswerFault.TOO_LARGE, f"{len(text)} characters, at most {limits.chars} are read")
    text = _visible(text)
    if not text.strip():
        return Unreadable(AnswerFault.EMPTY, "the answer is empty")
    try:
        reader = _Reader(limits)
        reader.read(text)
        found = reader.envelope()
        if found.files or found.keep:
            return found
        return json_answer(text, limits)
    except FaultError as error:
        return error.found


def _visible(text: str) -> str:
    """Without the reasoning that some models put before their answer; all of it where it does not end.

    Where the chat template wrote the opening tag, only the closing one comes, on a line of its own.
    """
    start = text.lstrip()
    if start.startswith("<think>"):
        return start.partition(_THOUGHT)[2]
    thought = _length_of_thought(text.partition("<think>")[0]) if _THOUGHT in text else 0
    return text[thought:] if thought and _ANSWERS.search(text, thought) else text


def _length_of_thought(text: str) -> int:
    """Characters up to and with the first closing tag that is no line of a file."""
    inside, at = False, 0
    for line in text.split("\n"):
        at += len(line) + 1
        head = _HEAD.match(line)
        if head is not None:
            inside = head[1] in ("FILE", "META")
        elif not inside and line.strip() == _THOUGHT:
            return at
    return 0


class _Reader:
    """Goes through the lines once."""

    def __init__(self, limits: EnvelopeLimits) -> None:
        self._limits = limits
        self.files: dict[str, BundleFile] = {}
        self._meta: dict[str, str] = {}
        self._keep: list[str] = []
        self._notes: set[str] = set()
        self._open: tuple[str, str] | None = None
        self._lines: list[str] = []

    def read(self, text: str) -> None:
        for line in self._split(text):
            head = _HEAD.match(line)
            if head is None:
                self._inside(line)
            elif head[1] == "END":
                self._close()
            else:
                if self._open is not None:
                    self._notes.add("unclosed")
                    self._close()
                self._begin(head[1], line[head.end() :].strip().removeprefix(":").removesuffix("@@").strip())
        if self._open is not None:
            raise FaultError(AnswerFault.CUT, f"the answer ends inside of {self._open[1] or 'the metadata'}")

    def envelope(self) -> Envelope:
        return Envelope(self.files, self._meta, tuple(dict.fromkeys(self._keep)), tuple(sorted(self._notes)))

    def _split(self, text: str) -> list[str]:
        """Lines; where the marks themselves end with CRLF, that is how the answer was sent and no content."""
        lines = text.split("\n")
        marks = [line for line in lines if _HEAD.match(line)]
        if marks and all(line.endswith("\r") for line in marks if line is not lines[-1]):
            self._notes.add("crlf")
            lines = [line.removesuffix("\r") for line in lines]
        return lines

    def _inside(self, line: str) -> None:
        if self._open is not None:
            self._lines.append(line[1:] if line.startswith("\\") and _MARK.match(line) else line)
        elif line.strip():
            self._notes.add("prose")

    def _begin(self, kind: str, rest: str) -> None:
        if kind == "KEEP":
            self._keep.append(kept_path(_unquoted(rest)))
        elif kind == "LINK":
            path, arrow, target = rest.partition(" -> ")
            if not arrow:
                raise FaultError(AnswerFault.NO_FILES, f"a link without a target: {rest[:200]}")
            self._add(sound_path(_unquoted(path)), BundleFile(target=sound_target(_unquoted(target)), mode=0o777))
        else:
            self._open, self._lines = (kind, rest), []

    def _close(self) -> None:
        if self._open is None:
            return
        kind, rest = self._open
        self._open = None
        if kind == "META":
            self._meta |= _meta(self._lines)
            return
        rest, attributes = _attributes(rest)
        path = sound_path(_unquoted(rest))
        data = self._content(path, attributes)
        self._add(path, make_file(path, data, attributes.get("mode"), self._limits))

    def _content(self, path: str, attributes: Mapping[str, str]) -> bytes:
        if attributes.get("encoding", "").lower() == "base64":
            return decoded("".join(self._lines), path)
        lines = self._lines
        if len(lines) > 1 and not path.endswith(".md") and _FENCE.fullmatch(lines[0]) and lines[-1].strip() == "```":
            self._notes.add("fenced")
            lines = lines[1:-1]
        text = "\n".join(lines)
        return encoded(text if attributes.get("end") == "open" or not lines else text + "\n", path)

    def _add(self, path: str, file: BundleFile) -> None:
        if add_file(self.files, path, file, self._limits):
            self._notes.add("repeated")


def _attributes(rest: str) -> tuple[str, dict[str, str]]:
    """What stands behind the path, taken off from the end: a path may hold spaces."""
    found: dict[str, str] = {}
    for _ in range(_MOST_ATTRIBUTES):
        before, space, last = rest.rpartition(" ")
        match = _ATTRIBUTE.fullmatch(last)
        if not space or match is None:
            break
        found.setdefault(match[1], match[2])
        rest = before.rstrip()
    return rest, found


def _meta(lines: list[str]) -> dict[str, str]:
    """`key: value` lines, or a JSON object."""
    text = "\n".join(lines).strip()
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        table = {key: value for key, colon, value in (line.partition(":") for line in lines) if colon}
    return meta_table(table if isinstance(table, dict) else {})


def meta_table(table: Mapping[str, object]) -> dict[str, str]:
    """Metadata as short texts, whatever came."""
    shown = {str(key).strip().lower(): _shown(value) for key, value in table.items()}
    pairs = ((storable(key[:100]), storable(value.strip()[:_META_CHARS])) for key, value in shown.items() if key)
    return dict(islice(pairs, _META_KEYS))


def _shown(value: object) -> str:
    try:
        return value if isinstance(value, str) else json.dumps(value, default=str)
    except RecursionError:
        return "nested too deeply"


def _unquoted(text: str) -> str:
    text = text.strip()
    if text.startswith('"'):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        return value if isinstance(value, str) else text.strip('"')
    return text.strip("`")


# What the block form and the JSON form share


def sound_path(path: str) -> str:
    """The path of a file, without a leading `./`.

    Raises:
        FaultError: It leaves the bundle or cannot be the name of a file.
    """
    path = path.removeprefix("./")
    fault = path_fault(path)
    if not path:
        raise FaultError(AnswerFault.NO_FILES, "a file without a name")
    if fault:
        raise FaultError(AnswerFault.PATH_ESCAPES, f"{path[:200]!r}: {fault}")
    return path


def sound_target(target: str) -> str:
    """What a link points to: a path like others, but for `.` and `..`. Whether it stays inside is seen with all files.

    Raises:
        FaultError: No link can hold it.
    """
    names = "/".join(name for name in target.split("/") if name not in ("", ".", ".."))
    fault = "it is empty" if not target else path_fault(names) if names else ""
    if not fault and len(target.encode()) > MAX_PATH_BYTES:
        fault = f"it is longer than {MAX_PATH_BYTES} bytes"
    if fault:
        raise FaultError(AnswerFault.PATH_ESCAPES, f"a link to {target[:200]!r}: {fault}")
    return target


def kept_path(path: str) -> str:
    """The path of what is kept: a file, or a directory with a slash at its end."""
    return sound_path(path.rstrip("/")) + ("/" if path.endswith("/") else "")


def encoded(text: str, path: str) -> bytes:
    """The bytes of a text file.

    Raises:
        FaultError: It holds what no sound text does.
    """
    bad = next((sign for sign in _DAMAGED if sign in text), None)
    if bad is not None:
        raise FaultError(AnswerFault.ENCODING, f"{path} contains {bad!r}")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise FaultError(AnswerFault.ENCODING, f"{path}: {error.reason}") from None


def decoded(text: str, path: str) -> bytes:
    """The bytes of a base64 block.

    Raises:
        FaultError: It is none.
    """
    try:
        return base64.b64decode("".join(text.split()).encode("ascii", "replace"), validate=True)
    except binascii.Error as error:
        raise FaultError(AnswerFault.ENCODING, f"{path} is not base64: {error}") from None


def make_file(path: str, data: bytes, mode: object, limits: EnvelopeLimits) -> BundleFile:
    """A file with the mode that was asked for, else the usual one; its owner can always read it.

    Raises:
        FaultError: It is too large.
    """
    if len(data) > limits.file_bytes:
        raise FaultError(AnswerFault.TOO_LARGE, f"{path} has {len(data)} bytes, at most {limits.file_bytes} are taken")
    digits = str(mode) if isinstance(mode, str | int) else ""
    asked = int(digits, 8) & 0o777 if _MODE.fullmatch(digits) else default_mode(path, data)
    if not asked & 0o400:
        asked |= 0o700 if asked & 0o111 else 0o600
    return BundleFile(data=data, mode=asked)


def add_file(files: dict[str, BundleFile], path: str, file: BundleFile, limits: EnvelopeLimits) -> bool:
    """Add a file. Whether the same file was there already.

    Raises:
        FaultError: Another version of it was there, or there are too many.
    """
    known = files.setdefault(path, file)
    if known is not file:
        if (known.data, known.target) != (file.data, file.target):
            raise FaultError(AnswerFault.DUPLICATE_FILE, f"two versions of {path}")
        return True
    if len(files) > limits.files:
        raise FaultError(AnswerFault.TOO_LARGE, f"more than {limits.files} files")
    return False
