from __future__ import annotations

import pytest

from envs_forge.sandbox.images.dockerfile import parse
from envs_forge.sandbox.images.steps import Step, name_in_context, sources_of, step_of


def last(line: str) -> Step:
    read = parse(f"FROM debian:12\n{line}\n")
    return step_of(read.text, read.instructions[-1])


def test_flags_and_arguments_are_apart() -> None:
    assert last("copy --chown=1:1 a \\\n  b /app/") == Step(
        "COPY", ("a", "b", "/app/"), ("--chown=1:1",), "a   b /app/", 2
    )


@pytest.mark.parametrize(
    ("line", "sources"),
    [
        ("COPY a ./b/ /app/", ["a", "./b/"]),
        ('ADD ["a b", "/app/"]', ["a b"]),
        ("COPY 'a' /app/", ["a"]),
        ("COPY . /app", ["."]),
        ("COPY --from=x /a /b", []),
        ("COPY *.txt $X /app/", []),
        ("ADD https://example.org/a git@example.org:b /app/", []),
        ("COPY <<E /app/x\nhi\nE", []),
        ("RUN cp a b", []),
    ],
)
def test_sources_are_what_is_surely_taken_from_the_context(line: str, sources: list[str]) -> None:
    assert sources_of(last(line)) == sources


@pytest.mark.parametrize(("source", "name"), [("./a/b/", "a/b"), ("/a", "a"), (".", "."), ("./", "."), ("/", ".")])
def test_names_in_the_context(source: str, name: str) -> None:
    assert name_in_context(source) == name
