import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs_forge.sandbox.images.dockerfile import DockerfileError, decode, encode, parse


def keywords(text: str) -> list[str]:
    return [instruction.keyword for instruction in parse(text).instructions]


def test_continuations_and_comments_inside_them_are_joined() -> None:
    parsed = parse("FROM a\nRUN one \\\n# FROM comment\n\n  two \\  \n  three\nfrom b\n")
    assert [i.keyword for i in parsed.instructions] == ["FROM", "RUN", "FROM"]
    assert parsed.instructions[1].text.split() == ["RUN", "one", "two", "three"]


@pytest.mark.parametrize(
    "body",
    [
        "RUN <<EOF\nFROM inside\nEOF\n",
        "RUN <<'EOF'\nFROM inside\nEOF\n",
        'RUN <<"EOF"\nFROM inside\nEOF\n',
        "RUN <<-EOF\nFROM inside\n\t\tEOF\n",
        "RUN python3 <<EOF && echo FROM\nFROM inside\nEOF\n",
        "COPY <<one <<two /d/\nFROM inside\none\nFROM inside\ntwo\n",
        "RUN 3<<EOF cat\r\nFROM inside\r\nEOF\r\n",
        "RUN echo '<<EOF' \"<<EOF\" x<<EOF\n",
    ],
)
def test_heredocs_are_not_read_as_instructions(body: str) -> None:
    first = body.split()[0]
    assert keywords(f"FROM a\n{body}USER x\n") == ["FROM", first, "USER"]


def test_a_heredoc_that_is_never_closed_hides_nothing() -> None:
    assert keywords("FROM a\nRUN echo $((1 <<2))\nFROM b\n") == ["FROM", "RUN", "FROM"]


def test_the_escape_directive_changes_the_continuation() -> None:
    parsed = parse("# escape=`\nFROM a\nRUN dir c:\\\nRUN x `\n  y\n")
    assert [i.text.split() for i in parsed.instructions] == [["FROM", "a"], ["RUN", "dir", "c:\\"], ["RUN", "x", "y"]]


def test_directives_end_with_the_first_line_that_is_none() -> None:
    assert set(parse("# syntax=a\n# check=skip=x\n# escape=`\nFROM a").directives) == {"syntax", "check", "escape"}
    assert not parse("# a comment\n# syntax=a\nFROM a").directives
    assert not parse("\n# syntax=a\nFROM a").directives


def test_words_know_where_they_stand_across_lines() -> None:
    text = "FROM \\\r\n  some/image:1 \\\r\n  AS x\r\n"
    word = parse(text).instructions[0].words()[1]
    start, end = word.span()
    assert text[start:end] == "some/image:1"


@pytest.mark.parametrize("data", [b"\xff\xfeF\0R\0", b"\xfe\xff\0F", b"FROM a\0"])
def test_what_is_not_utf8_text_is_refused(data: bytes) -> None:
    with pytest.raises(DockerfileError):
        decode(data)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\n\n", "\\\n"])
def test_a_file_without_instructions_is_refused(text: str) -> None:
    with pytest.raises(DockerfileError):
        parse(text)


def test_a_byte_order_mark_goes_and_odd_bytes_stay() -> None:
    assert encode(decode(b"\xef\xbb\xbfFROM a # \xe9\r\n")) == b"FROM a # \xe9\r\n"


LINES = st.lists(
    st.sampled_from(
        [
            "FROM a",
            "RUN x \\",
            "# c",
            "",
            "RUN <<EOF",
            "EOF",
            "COPY --from=b c d",
            "  y",
            "\t<<-X",
            "ARG A=1",
            "RUN 'a \\",
            "\\",
        ]
    )
    | st.text(max_size=20)
)


@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_every_character_of_an_instruction_is_found_where_it_says(lines: list[str], end: str) -> None:
    text = end.join(["FROM a", *lines])
    for instruction in parse(text).instructions:
        assert "".join(text[place] for place in instruction.offsets) == instruction.text
        for word in instruction.words():
            assert "".join(text[place] for place in word.offsets) == word.text
