import pytest

from envs_forge.models.wire import one_line, parsed, storable


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("plain", "plain"),
        ("é😀\0\ufeff", "é😀\0\ufeff"),
        ("\ud83d\ude00", "😀"),
        ("a\ud83db", "a\ufffdb"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ud83d\ude00", "\ufffd😀"),
        ("ends \ud800", "ends \ufffd"),
    ],
)
def test_halves_of_characters_are_joined_or_replaced_and_all_else_stays(text, kept):
    assert storable(text) == kept


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, "1" + "0" * 5000], ids=range(5)
)
def test_what_cannot_be_read_is_one_kind_of_error(text):
    with pytest.raises(ValueError, match=r"."):
        parsed(text)


def test_a_message_is_one_line_without_secrets_and_not_long(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-12345678")
    line = one_line("no\n\ud800 " + "sk-secret-12345678 " * 100)
    assert line.startswith("no \ufffd [OPENAI_API_KEY redacted]")
    assert ("sk-" in line, len(line)) == (False, 500)
