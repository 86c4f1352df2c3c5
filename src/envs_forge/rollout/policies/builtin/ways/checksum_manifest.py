"""List the files of a tree with their digests."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.commands import folder_of, python, script
from envs_forge.rollout.policies.builtin.way import Detail, OperationWays, Options, Reading

CODE = """
import hashlib, os, sys
source, target = sys.argv[1:]
rows = []
for folder, _, names in os.walk(source):
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isfile(path) {test}:
            data = open(path, "rb").read()
            {empty}
            rows.append((hashlib.{algorithm}(data).hexdigest(), {shown}))
rows.sort(key=lambda row: {order})
with open(target, "w", encoding="utf-8") as file:
    file.writelines(f"{{digest}}  {{path}}\\n" for digest, path in rows)
"""


def read(clause: Clause, previous: str | None) -> Reading | None:
    """Source and target."""
    ends = clause.ends(previous)
    return (
        {"source": ends[0], "target": ends[1]} if ends and {"digest", "digests", "checksum"} & {*clause.words} else None
    )


def command(reading: Reading, options: Options) -> str:
    """os.walk and hashlib."""
    tests = [] if options.get("links") else ["and not os.path.islink(path)"]
    tests += ["and folder == source"] if options.get("top_only") else []
    tests += ["and name[0] != '.'"] if options.get("skip_hidden") else []
    code = CODE.format(
        test=" ".join(tests),
        empty={"skip": "if not data: continue", "only": "if data: continue"}.get(options.get("empty", ""), "pass"),
        algorithm=options.get("algorithm", "sha256"),
        shown="path" if options.get("absolute") else "os.path.relpath(path, source)",
        order="row[0]" if options.get("by_digest") else "os.fsencode(row[1])",
    )
    return script(folder_of(reading["target"]), python(code, reading["source"], reading["target"]))


WAYS = OperationWays(
    operation="checksum_manifest",
    cues=frozenset({"digest", "digests", "checksum", "manifest"}),
    read=read,
    slips={"absolute": {"absolute": True}, "top_only": {"top_only": True}, "by_digest": {"by_digest": True}},
    details=(
        Detail("skip_hidden", frozenset({"hidden", "dot"}), {"skip_hidden": True}, {}),
        Detail("links", frozenset({"links", "link"}), {"links": True}, {}),
        Detail("empty", frozenset({"empty", "zero", "content"}), {"empty": "skip"}, {"only": {"empty": "only"}}),
        Detail(
            "algorithm",
            frozenset({"md", "instead", "place", "receiver"}),
            {"algorithm": "md5"},
            {"sha1": {"algorithm": "sha1"}},
        ),
    ),
    command=command,
)
