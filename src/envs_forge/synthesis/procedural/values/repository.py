"""A Git repository with two branches."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.values.base import Value
from envs_forge.synthesis.procedural.values.table import Table

MAIN = "main"
START = 1_738_000_000
PACE = 9_600
"""Seconds between two commits."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, which writes one file.

    Attributes:
        branch: Where it was made.
        author: A name.
        subject: The message.
        path: The file.
        content: What it holds afterwards; None when the commit deletes it.
    """

    branch: str
    author: str
    subject: str
    path: str
    content: Table | str | None

    def data(self) -> bytes:
        """The content as bytes."""
        if isinstance(self.content, Table):
            return self.content.files("x")["x"].data
        return (self.content or "").encode()


@dataclass(frozen=True, slots=True)
class Repository(Value):
    """Commits on `main`, and after the first `fork` of them also on a second branch. Git makes it from a stream.

    No operation gives a repository, so there is no reader for one.

    Attributes:
        commits: Oldest first; those of `main` before the fork come first.
        fork: So many commits are common to both branches.
    """

    reader = "repository"
    source = "repository"

    commits: tuple[Commit, ...]
    fork: int

    def files(self, path: str) -> Mapping[str, BundleFile]:
        """The stream for `git fast-import`, in a file that `setup` removes."""
        return {f"{path}.stream": BundleFile(data=b"".join(self._stream()))}

    def setup(self, path: str) -> list[str]:
        """Import, check out, and leave only the repository."""
        stream, folder = shlex.quote(f"{path}.stream"), shlex.quote(path)
        return [
            f"git init -q -b {MAIN} {folder}",
            f"git -C {folder} fast-import --quiet < {stream}",
            f"git -C {folder} reset -q --hard",
            f"rm {stream}",
        ]

    def canon(self) -> list[str]:
        """One line a commit: branch, author and subject."""
        return [f"{commit.branch}: {commit.author}: {commit.subject}" for commit in self.commits]

    def history(self, branch: str) -> list[Commit]:
        """The commits that can be reached from a branch, oldest first."""
        return [c for i, c in enumerate(self.commits) if i < self.fork or c.branch == branch]

    def branches(self) -> list[str]:
        """Both names, `main` first."""
        return list(dict.fromkeys([MAIN, *(commit.branch for commit in self.commits)]))

    def _stream(self) -> Iterator[bytes]:
        last: dict[str, int] = {}
        for mark, commit in enumerate(self.commits, 1):
            mail = f"{commit.author.split()[0].lower()}@example.org".encode("ascii", "ignore").decode()
            who = f"{commit.author} <{mail}> {START + mark * PACE} +0000".encode()
            message = f"{commit.subject}\n".encode()
            yield b"commit refs/heads/%s\nmark :%d\nauthor %s\n" % (commit.branch.encode(), mark, who)
            yield b"committer %s\ndata %d\n%s" % (who, len(message), message)
            parent = last.get(commit.branch, self.fork if mark > self.fork else mark - 1)
            yield b"from :%d\n" % parent if mark > 1 else b""
            if commit.content is None:
                yield b"D %s\n\n" % commit.path.encode()
            else:
                yield b"M 100644 inline %s\ndata %d\n%s\n" % (commit.path.encode(), len(commit.data()), commit.data())
            last[commit.branch] = mark
