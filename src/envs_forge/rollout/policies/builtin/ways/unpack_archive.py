"""Unpack a compressed tar archive."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading
from envs_forge.rollout.policies.builtin.ways.pack_archive import read_ending

CODE = """
import os, sys, tarfile
source, target, ending = sys.argv[1:]
os.makedirs(target, exist_ok=True)
with tarfile.open(source) as archive:
    for member in archive.getmembers():
        name = os.path.basename(member.name)
        parts = os.path.normpath(member.name).split("/"){cut}
        if parts and not member.isdir() {test}:
            member.name = {place}
            archive.extract(member, target)
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source and target."""
    ends = clause.ends(previous)
    packed = (".tar.gz", ".tgz")
    fits = ends and ends[0].endswith(packed) and not ends[1].endswith(packed)
    return {"source": ends[0], "target": ends[1]} if ends and fits else None


def command(reading: Reading, options: Options) -> str:
    """Python's tarfile, member by member."""
    tests = ["and name[0] != '.'"] if options.get("skip_hidden") else []
    tests += {"out": ["and not name.endswith('.' + ending)"], "in": ["and name.endswith('.' + ending)"]}.get(
        options.get("exclude", ""), []
    )
    code = CODE.format(
        cut=f"[{options['strip']}:]" if options.get("strip") else "",
        test=" ".join(tests),
        place="name" if options.get("flat") else "'/'.join(parts)",
    )
    target = reading["target"]
    if options.get("nested"):
        target += "/" + reading["source"].rpartition("/")[2].split(".")[0]
    return script(python(code, reading["source"], target, reading.get("ending", "")))


WAYS = OperationWays(
    operation="unpack_archive",
    cues=frozenset({"unpack", "unpacked", "extract", "archive"}),
    read=read,
    slips={"nested": {"nested": True}, "flat": {"flat": True}},
    details=(
        Detail(
            "top_folder",
            frozenset({"enclosing", "encloses", "strip", "folder"}),
            {"strip": 1},
            {"two_levels": {"strip": 2}},
        ),
        Detail("skip_hidden", frozenset({"hidden", "dot"}), {"skip_hidden": True}, {}),
        Detail(
            "exclude",
            frozenset({"skip", "exclude", "ends", "nothing"}),
            {"exclude": "out"},
            {"only": {"exclude": "in"}},
            read_ending,
        ),
    ),
    command=command,
)
