from __future__ import annotations

from envs_forge.rollout.policies.builtin.clauses import clause_of, read_clauses


def test_items_paragraphs_and_sentences() -> None:
    text = "# Title\n\nA story. It goes on\nhere.\n\n1. Write `/app/a. B.txt` now. Then stop.\n2. Second item.\n"
    assert [clause.text for clause in read_clauses(text)] == [
        "A story.",
        "It goes on here.",
        "Write `/app/a. B.txt` now.",
        "Then stop.",
        "Second item.",
    ]


def test_code_blocks_and_nothing_at_all() -> None:
    assert read_clauses("```\nrm -rf `/x`.\n```\n") == []
    assert read_clauses("") == []


def test_target_and_source_by_the_words_around_them() -> None:
    assert clause_of("Copy `/app/a.csv` to `/app/b.csv`.").ends(None) == ("/app/a.csv", "/app/b.csv")
    assert clause_of("`/app/b.csv` must list what `/app/a.csv` has.").ends(None) == ("/app/a.csv", "/app/b.csv")
    assert clause_of("Write the sums to `/app/b.json`.").ends("/app/a.csv") == ("/app/a.csv", "/app/b.json")
    assert clause_of("Write the sums to `/app/b.json`.").ends(None) is None


def test_words_leave_out_quotes_and_the_commonest() -> None:
    clause = clause_of("The value of `Column` is at least 12, not 3.5.")
    assert clause.words == ("at", "least", "not", "value")
    assert clause.numbers == ("12", "3.5")
    assert clause.name(after=("of",)) == "Column"
    assert clause.name(after=("value",)) is None
    assert clause.name(before=("is",)) == "Column"
