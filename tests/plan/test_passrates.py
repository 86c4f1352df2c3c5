from __future__ import annotations

import json
from pathlib import Path

import pytest

from envs_forge.config import RunConfig
from envs_forge.errors import PrerequisiteError, UserError
from envs_forge.plan.passrates import check_rows, read_pass_rates
from envs_forge.plan.settings import Scoring
from envs_forge.run.rates import plan_inputs, read_rates


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def complaint(path: Path, **more: bool) -> str:
    with pytest.raises(UserError) as caught:
        read_pass_rates(path, **more)
    assert "\n" not in caught.value.message
    return caught.value.message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '[{"id": "a", "k": 3, "n": 4}, {"id": "b", "k": 0.5, "n": 2}]'),
        ("b.json", '{"schema_version": 1, "pass_rates": [{"seed_id": "a", "rewards": [1, 1, 1, 0]},'
                   ' {"task": "b", "rate": 0.25, "trials": 2}]}'),
        ("c.json", '{"a": {"successes": 3, "trials": 4}, "b": {"p": 0.25, "rollouts": 2}}'),
        ("d.jsonl", '{"id": "a", "k": 3, "n": 4}\n\n{"id": "b", "k": 0.5, "n": 2}\n'),
        ("e.csv", "\ufeffid,k,n,rate\na,3,4,0.75\nb,0.5,2,\n"),
        ("f.tsv", "name\tpass_rate\tn\na\t0.75\t4\nb\t0.25\t2\n"),
    ],
)  # fmt: skip
def test_formats(tmp_path: Path, name: str, text: str) -> None:
    rows = read_pass_rates(write(tmp_path / name, text))
    assert [(row.id, row.k, row.n) for row in rows] == [("a", 3.0, 4), ("b", 0.5, 2)]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,nan,8\nb,1,8\nc,inf,8", "the rate is not a number: rows 1, 3"),
        ("a,0,0\nb,1,8", "n = 0: row 1"),
        ("a,-1,8\nb,9,8", "the rate is not in [0, 1]: rows 1, 2"),
        ("a,1,8\nb,1,8\na,2,8", "the same id more than once: rows 1 (a), 3 (a)"),
        ("a,1,1.5", "n is not a whole number: row 1"),
        ("a,1,nan", "n is not a whole number: row 1"),
        ("a,x,8", "the rate is not a number: row 1"),
        (",1,8", "no id: row 1"),
        ("a,,8", "neither k nor a rate: row 1"),
        ("a,1,", "no n (only plug-in scoring takes a rate without the number of its rollouts): row 1"),
    ],
)
def test_rows_that_cannot_be_used_are_named(tmp_path: Path, rows: str, said: str) -> None:
    assert said in complaint(write(tmp_path / "r.csv", f"id,k,n\n{rows}\n"))


def test_many_faults_make_one_line_by_kind(tmp_path: Path) -> None:
    rows = "\n".join([*(f"s{i},9,8" for i in range(9)), "t,0,0", "u,nan,8"])
    said = complaint(write(tmp_path / "r.csv", f"id,k,n\n{rows}\n"))
    assert "the rate is not in [0, 1]: rows 1, 2, 3, 4, 5 and 4 more" in said
    assert "n = 0: row 10" in said
    assert "the rate is not a number: row 11" in said


def test_json_numbers_that_are_none(tmp_path: Path) -> None:
    said = complaint(write(tmp_path / "r.json", '[{"id": "a", "k": NaN, "n": 4}, {"id": "b", "k": true, "n": 4}, 7]'))
    assert "the rate is not a number: rows 1, 2" in said
    assert "not an object with id, k and n: row 3" in said


def test_k_and_rate_must_agree(tmp_path: Path) -> None:
    said = complaint(write(tmp_path / "r.csv", "id,k,n,rate\na,3,4,0.5\nb,3,4,0.75\n"))
    assert "k / n and the rate differ: row 1" in said


def test_a_reward_outside_its_range_is_found_though_the_mean_is_fine(tmp_path: Path) -> None:
    said = complaint(write(tmp_path / "r.json", '[{"id": "a", "rewards": [1.5, 0.2]}, {"id": "b", "rewards": []}]'))
    assert "the rate is not in [0, 1]: row 1" in said
    assert "n = 0: row 2" in said


def test_a_rate_alone_serves_plug_in_scoring(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "id,rate\na,0.25\n")
    assert "only plug-in scoring" in complaint(path)
    (row,) = read_pass_rates(path, rate_alone=True)
    assert (row.k, row.n) == (0.25, 1)
    assert read_rates(path, scoring=Scoring.PLUG_IN)[0].k == 0.25


def test_skills_of_rows(tmp_path: Path) -> None:
    text = "id,k,n,skills\na,1,2,operation/join tool/awk;tool/awk\nb,1,2,\n"
    a, b = read_pass_rates(write(tmp_path / "r.csv", text))
    assert (a.skills, b.skills) == (("operation/join", "tool/awk"), ())
    listed = write(tmp_path / "r.json", json.dumps([{"id": "a", "k": 1, "n": 2, "skills": ["tool/awk"]}]))
    assert read_pass_rates(listed)[0].skills == ("tool/awk",)
    said = complaint(write(tmp_path / "bad.csv", "id,k,n,skills\na,1,2,tool/akw\nb,1,2,tool/akw\nc,1,2,tool/awk\n"))
    assert "unknown skills tool/akw: rows 1, 2" in said
    said = complaint(write(tmp_path / "odd.json", '[{"id": "a", "k": 1, "n": 2, "skills": [3]}]'))
    assert "skills is no list of names: row 1" in said


def test_skills_of_rows_become_candidates(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "id,k,n,skills\na,1,2,operation/join\nb,1,2,\n")
    (a, b), unmeasured, unmatched = plan_inputs(read_pass_rates(path), RunConfig())
    assert a.skills["increase/in_depth"].required == ("operation/join",)
    assert all(not skills.required and not skills.optional for skills in b.skills.values())
    assert (len(b.skills), unmeasured, unmatched) == (6, [], [])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("r.json", "{", "is not JSON"),
        ("r.json", "7", "neither a list of rows nor an object from id to row"),
        ("r.json", '{"a": [], "b": []}', "neither a list of rows nor an object from id to row"),
        ("r.json", "[]", "no pass rates in it"),
        ("r.jsonl", '{"id": "a", "k": 1, "n": 2}\n{oops\n', "line 2 is not JSON"),
        ("r.csv", "id,k,n\n", "no pass rates in it"),
        ("r.xlsx", "", "unknown kind of file"),
    ],
)
def test_files_that_are_not_what_they_say(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert said in complaint(write(tmp_path / name, text))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "cannot read" in complaint(tmp_path / "none.json")
    latin = tmp_path / "r.csv"
    latin.write_bytes("id,k,n\nmüll,1,2\n".encode("latin-1"))
    assert "is not UTF-8" in complaint(latin)


def test_parquet_where_pyarrow_is_there(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        path.write_bytes(b"PAR1")
        with pytest.raises(PrerequisiteError, match="needs pyarrow"):
            read_pass_rates(path)
        return
    parquet.write_table(pyarrow.table({"id": ["a"], "k": [1.5], "n": [4]}), path)
    assert read_pass_rates(path)[0].k == 1.5


def test_a_run_is_read_and_a_directory_without_rates_is_not(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no pass"):
        read_rates(tmp_path, scoring=Scoring.POSTERIOR)
    document = {
        "schema_version": 1,
        "policy": {"name": "x"},
        "pass_rates": [{"id": "a", "k": 1, "n": 4}],
        "unmeasured": {},
    }
    from envs_forge.run.directory import RunDirectory

    write(RunDirectory(tmp_path).pass_rates, json.dumps(document))
    assert read_rates(tmp_path, scoring=Scoring.POSTERIOR)[0].n == 4


def test_the_name_of_the_source_comes_first() -> None:
    with pytest.raises(UserError) as caught:
        check_rows([{"id": "a"}], name="somewhere")
    assert caught.value.message.startswith("somewhere: ")
