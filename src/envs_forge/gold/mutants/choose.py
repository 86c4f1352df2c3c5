"""All changes to a solution, and the few of them that are tried."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator

from envs_forge.bundle.model import Bundle
from envs_forge.gold.mutants.mutation import Mutation, Operator
from envs_forge.gold.mutants.python import python_mutations
from envs_forge.gold.mutants.shell import shell_mutations


def mutations_of(bundle: Bundle) -> list[Mutation]:
    """Every change that can be made to the files of the solution, in the order of the text, none twice."""
    found: dict[tuple[str, int, int, bytes], Mutation] = {}
    for path, file in sorted(bundle.files.items()):
        if not path.startswith("solution/") or file.target is not None:
            continue
        for change in _changes(path, file.data):
            made = change.placed(path, file.data)
            if made.old != made.new:
                found.setdefault((path, made.start, made.end, made.new), made)
    return sorted(found.values(), key=lambda made: (made.file, made.start, made.end, made.new))


def _changes(path: str, data: bytes) -> Iterator[Mutation]:
    if path.endswith((".sh", ".bash")) or data.startswith((b"#!/bin/bash", b"#!/bin/sh", b"#!/usr/bin/env bash")):
        yield from shell_mutations(data)
    elif path.endswith(".py"):
        yield from python_mutations(data)


def choose(mutations: list[Mutation], most: int) -> list[Mutation]:
    """At most `most` changes: every operator in turn, within one in an order that depends on the content only."""
    by_operator: defaultdict[Operator, list[Mutation]] = defaultdict(list)
    for mutation in sorted(mutations, key=_shuffled):
        by_operator[mutation.operator].append(mutation)
    chosen: list[Mutation] = []
    while len(chosen) < most and any(by_operator.values()):
        for operator in Operator:
            if by_operator[operator] and len(chosen) < most:
                chosen.append(by_operator[operator].pop(0))
    return sorted(chosen, key=lambda made: (made.file, made.start, made.end, made.new))


def _shuffled(mutation: Mutation) -> str:
    return hashlib.sha256(f"{mutation}{mutation.start}".encode()).hexdigest()
