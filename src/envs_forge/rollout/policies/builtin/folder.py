"""What a clause says about one file in a directory that is changed where it lies."""

from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import Clause
from envs_forge.rollout.policies.builtin.way import Reading


def read_folder(clause: Clause, *names: str) -> Reading | None:
    """The directory, which is the only absolute path, and as many other things in backticks as there are names."""
    texts = [quote.text for quote in clause.quotes]
    directories, others = [t for t in texts if t.startswith("/")], [t for t in texts if not t.startswith("/")]
    if len(directories) != 1 or len(others) != len(names) or "directory" not in clause.words:
        return None
    return {"source": directories[0], "target": directories[0], **dict(zip(names, others, strict=True))}
