"""What a set of files holds, as fingerprints: made once a layer, asked for any bundle."""

from __future__ import annotations

import io
import json
import zipfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from envs_forge.files import write_bytes
from envs_forge.gold.leak.lines import cached_module, fingerprints
from envs_forge.gold.leak.unwrap import Allowance, unwrap

if TYPE_CHECKING:
    from numpy.typing import NDArray

INDEX_VERSION = "3"
"""Changes whenever the same files could give another index."""
UNWRAPPED_PER_INDEX = 512 * 1024 * 1024
"""Bytes that the wrapped contents of one set of files may unfold to."""


class ContentIndex:
    """Which fingerprint occurs in which document. A document is a file, or one content wrapped in a file.

    Args:
        documents: Name of each document: the file's path, then ` → ` and how the content is wrapped.
        prints: Fingerprints, ascending.
        owners: For each fingerprint the number of its document.
    """

    def __init__(self, documents: list[str], prints: NDArray, owners: NDArray) -> None:  # type: ignore[type-arg]
        self.documents = documents
        self._prints = prints
        self._owners = owners

    @classmethod
    def of(cls, files: Iterable[tuple[str, bytes]]) -> ContentIndex:
        """Index files, what is wrapped in them, and their names."""
        import numpy

        documents: list[str] = []
        prints, owners = array("Q"), array("I")
        for name, content in _documents(files):
            found = fingerprints(content)
            compiled = cached_module(name)
            if compiled is not None:
                found.add(compiled)
            if found:
                prints.extend(found)
                owners.extend([len(documents)] * len(found))
                documents.append(name)
        values = numpy.frombuffer(prints, dtype=numpy.uint64) if prints else numpy.zeros(0, numpy.uint64)
        places = numpy.frombuffer(owners, dtype=numpy.uint32) if owners else numpy.zeros(0, numpy.uint32)
        order = numpy.argsort(values, kind="stable")
        return cls(documents, values[order], places[order])

    def occurrences(self, wanted: Iterable[int]) -> dict[str, set[int]]:
        """Document → those of the wanted fingerprints that it has; only documents that have any."""
        import numpy

        asked = numpy.array(sorted(set(wanted)), dtype=numpy.uint64)
        starts = numpy.searchsorted(self._prints, asked, side="left")
        ends = numpy.searchsorted(self._prints, asked, side="right")
        found: dict[str, set[int]] = {}
        for value, start, end in zip(asked.tolist(), starts.tolist(), ends.tolist(), strict=True):
            for owner in self._owners[start:end].tolist():
                found.setdefault(self.documents[owner], set()).add(value)
        return found

    def save(self, path: Path) -> None:
        """Write to a file, whole or not at all."""
        import numpy

        buffer = io.BytesIO()
        names = numpy.frombuffer(json.dumps(self.documents).encode(), dtype=numpy.uint8)
        numpy.savez_compressed(buffer, prints=self._prints, owners=self._owners, names=names)
        write_bytes(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> ContentIndex | None:
        """Read from a file; None where there is none or it is damaged."""
        import numpy

        try:
            with numpy.load(path, allow_pickle=False) as data:
                return cls(json.loads(data["names"].tobytes()), data["prints"], data["owners"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None


def _documents(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    allowance = Allowance(UNWRAPPED_PER_INDEX)
    repeated: Counter[str] = Counter()
    for path, content in files:
        yield path, content
        name = path.rpartition("/")[2].encode(errors="replace")
        wrapped = [*unwrap(content, allowance), *((f"name/{how}", piece) for how, piece in unwrap(name, allowance))]
        for how, piece in wrapped:
            label = f"{path} → {how}"
            repeated[label] += 1
            yield f"{label} {repeated[label]}" if repeated[label] > 1 else label, piece
