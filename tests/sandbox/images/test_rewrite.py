import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs_forge.sandbox.images.dockerfile import parse
from envs_forge.sandbox.images.rewrite import references, rewrite, special_syntax

LOCAL = "local/base:1"


def names(text: str) -> list[str]:
    return [reference.name for reference in references(parse(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FROM ubuntu:22.04", ["ubuntu:22.04"]),
        ("from ubuntu as x\nFROM X", ["ubuntu"]),
        ("FROM scratch\nCOPY --from=busybox:1 /bin/sh /", ["busybox:1"]),
        ("FROM --platform=linux/amd64 debian", ["debian"]),
        (
            "FROM --platform=$BUILDPLATFORM golang:1 AS build\nFROM debian\nCOPY --from=build /x /",
            ["golang:1", "debian"],
        ),
        ("FROM a AS one\nFROM b\nCOPY --from=0 /x /\nCOPY --chown=1:1 --from=one /x /", ["a", "b"]),
        ("ARG V=22.04\nFROM ubuntu:${V}", ["ubuntu:22.04"]),
        ("ARG V\nFROM ubuntu:${V:-24.04}", ["ubuntu:24.04"]),
        ("ARG R=reg.io\nARG I=$R/img\nFROM $I:1", ["reg.io/img:1"]),
        ("ARG N='quoted:1'\nFROM $N", ["quoted:1"]),
        ("FROM a\nARG V=x\nFROM b:$V", ["a", "b:"]),
        ("ARG NOTHING\nFROM $NOTHING", []),
        ("FROM x-$TARGETOS", ["x-linux"]),
        ("FROM a\nRUN --mount=type=bind,from=tools:2,target=/t --mount=type=cache,target=/c make", ["a", "tools:2"]),
        ("FROM a AS deps\nRUN --mount=from=deps,target=/t make", ["a"]),
        ("FROM a\nRUN <<EOF\nFROM not-this\nEOF\nFROM b", ["a", "b"]),
        ("FROM a\nRUN echo \\\n  FROM not-this", ["a"]),
        ("FROM a\nRUN curl --from=x", ["a"]),
        ("FROM a@sha256:0123", ["a@sha256:0123"]),
    ],
)
def test_the_images_that_come_from_outside(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("FROM a", f"FROM {LOCAL}"),
        ("FROM --platform=linux/arm64 a AS x\n", f"FROM  {LOCAL} AS x\n"),
        ("FROM \\\r\n  a \\\r\n  AS x\r\nRUN y\r\n", f"FROM \\\r\n  {LOCAL} \\\r\n  AS x\r\nRUN y\r\n"),
        ("ARG V=a\nFROM ${V}\n", f"ARG V=a\nFROM {LOCAL}\n"),
        ("FROM b\nCOPY --from=a /x /\n", f"FROM b\nCOPY --from={LOCAL} /x /\n"),
        ("FROM b\nRUN --mount=from=a,target=/t x\n", f"FROM b\nRUN --mount=from={LOCAL},target=/t x\n"),
        ("# syntax=docker/dockerfile:1\nFROM a\n", f"FROM {LOCAL}\n"),
        ("#  Syntax = docker/dockerfile:1\r\n# escape=`\r\nFROM b\r\n", "# escape=`\r\nFROM b\r\n"),
        ("# a comment\n# syntax=x\nFROM b\n", "# a comment\n# syntax=x\nFROM b\n"),
        ("FROM b\nRUN <<EOF\nFROM a\n# syntax=x\nEOF\n", "FROM b\nRUN <<EOF\nFROM a\n# syntax=x\nEOF\n"),
        ("FROM b\nRUN echo a a\n", "FROM b\nRUN echo a a\n"),
    ],
)
def test_only_what_must_change_changes(before: str, after: str) -> None:
    assert rewrite(parse(before), {"a": LOCAL}) == after


def test_a_syntax_line_can_stay() -> None:
    assert rewrite(parse("# syntax=x/y:1\nFROM a"), {}, keep_syntax=True) == "# syntax=x/y:1\nFROM a"


@pytest.mark.parametrize(
    ("syntax", "special"),
    [
        ("docker/dockerfile:1", None),
        ("docker.io/docker/dockerfile:1.7.0", None),
        ("docker/dockerfile", None),
        ("docker/dockerfile:1.7-labs", "docker/dockerfile:1.7-labs"),
        ("someone/else:2", "someone/else:2"),
    ],
)
def test_the_stock_frontend_needs_no_download(syntax: str, special: str | None) -> None:
    assert special_syntax(parse(f"# syntax={syntax}\nFROM a")) == special


INSTRUCTIONS = st.sampled_from(
    [
        "FROM a",
        "FROM --platform=linux/amd64 a AS s",
        "FROM s",
        "from b:1 as T",
        "FROM \\\n  a",
        "ARG X=a",
        "FROM $X",
        "COPY --from=a /x /",
        "COPY --from=s /x /",
        "RUN --mount=type=bind,from=b:1,target=/t make",
        "RUN <<EOF\nFROM a\nEOF",
        "RUN a \\\n# FROM a\n  a",
        "# FROM a",
        "",
        "ENV A=a",
    ]
)


@given(st.lists(INSTRUCTIONS), st.sampled_from(["\n", "\r\n"]))
def test_a_second_pass_finds_nothing_left(lines: list[str], end: str) -> None:
    text = "\n".join(["# syntax=docker/dockerfile:1", "FROM a AS first", *lines]).replace("\n", end)
    table = dict.fromkeys(("a", "b:1", "s"), LOCAL)
    rewritten = rewrite(parse(text), table)
    assert set(names(rewritten)) <= {LOCAL}
    assert rewrite(parse(rewritten), table) == rewritten


@given(st.lists(INSTRUCTIONS | st.text(max_size=30)))
def test_nothing_to_do_is_nothing_done(lines: list[str]) -> None:
    text = "\n".join(["FROM zzz", *lines])
    assert rewrite(parse(text), {}) == text
