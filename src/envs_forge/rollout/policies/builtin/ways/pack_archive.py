"""Pack a tree of files into a compressed tar archive."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import os, sys, tarfile
source, target, top, ending = sys.argv[1:]
with tarfile.open(target, "w:gz", dereference={follow}) as archive:
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.join(folder, name)
            if {test}:
                archive.add(path, os.path.join(top, {inside}))
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source and target."""
    ends = clause.ends(previous)
    fits = ends and ends[1].endswith((".tar.gz", ".tgz")) and "archive" in clause.words
    return {"source": ends[0], "target": ends[1]} if ends and fits else None


def read_folder(clause: Clause) -> Reading | None:
    """The folder within the archive."""
    return {"folder": clause.quotes[0].text.strip("/")} if len(clause.quotes) == 1 else None


def read_ending(clause: Clause) -> Reading | None:
    """The ending of what is left out."""
    endings = [quote.text.lstrip("*")[1:] for quote in clause.quotes if quote.text.lstrip("*")[:1] == "."]
    return {"ending": endings[0]} if len(endings) == 1 else None


def command(reading: Reading, options: Options) -> str:
    """os.walk and tarfile."""
    tests = ["True"]
    tests += ["folder == source"] if options.get("top_only") else []
    tests += ["name[0] != '.'"] if options.get("skip_hidden") else []
    tests += ["not os.path.islink(path)"] if options.get("links") == "none" else []
    tests += {"out": ["not name.endswith('.' + ending)"], "in": ["name.endswith('.' + ending)"]}.get(
        options.get("exclude", ""), []
    )
    code = CODE.format(
        follow=options.get("links") == "follow",
        test=" and ".join(tests),
        inside="name" if options.get("flat") else "os.path.relpath(path, source)",
    )
    top = reading["source"].rstrip("/").rpartition("/")[2] if options.get("own") else ""
    top = f"{reading['folder']}/{top}" if options.get("folder") else top
    arguments = (reading["source"], reading["target"], top, reading.get("ending", ""))
    return script(folder_of(reading["target"]), python(code, *arguments))


WAYS = OperationWays(
    operation="pack_archive",
    cues=frozenset({"pack", "tar", "gzip", "gzip-compressed", "gzipped", "archive"}),
    read=read,
    slips={"with_folder": {"own": True}, "top_only": {"top_only": True}, "flat": {"flat": True}},
    details=(
        Detail(
            "top_folder",
            frozenset({"folder", "below", "before", "top-level"}),
            {"folder": True},
            {"own_name": {"own": True}},
            read_folder,
        ),
        Detail("skip_hidden", frozenset({"hidden", "dot"}), {"skip_hidden": True}, {}),
        Detail(
            "links",
            frozenset({"link", "links"}),
            {"links": "follow"},
            {"left_out": {"links": "none"}},
        ),
        Detail(
            "exclude",
            frozenset({"leave", "exclude", "ends", "nothing"}),
            {"exclude": "out"},
            {"only": {"exclude": "in"}},
            read_ending,
        ),
    ),
    command=command,
)
