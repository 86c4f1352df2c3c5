"""What is near, what repeats an evaluation set, and who may take part."""

import json
import threading

import pytest

from envs_forge.bundle.model import BundleFile
from envs_forge.bundle.reading import make_bundle
from envs_forge.bundle.writing import write_bundle
from envs_forge.errors import UserError
from envs_forge.synthesis.overlap.corpus import Corpus, Source
from envs_forge.synthesis.overlap.document import Document
from envs_forge.synthesis.overlap.eligibility import overlap_risk
from envs_forge.synthesis.overlap.evaluation import read_evaluation

from ..audit.children import child, seed

GUID = "01234567-89ab-cdef-0123-456789abcdef"
HARNESS = "#!/bin/bash\napt-get update\napt-get install -y curl\npytest /tests\necho 1 > /logs/verifier/reward.txt\n"
PARSER = (
    "Write a small parser for the dialect of INI files that `legacy.conf` uses, and print every section it defines.\n"
)


def bundle(name, instruction, solution="true\n", tests=HARNESS):
    files = {
        "instruction.md": instruction,
        "task.toml": 'schema_version = "1.4"\n',
        "environment/Dockerfile": "FROM debian:12\n",
        "solution/solve.sh": solution,
        "tests/test.sh": tests,
    }
    return make_bundle(name, {path: BundleFile(data=text.encode()) for path, text in files.items()})


def test_a_task_is_nearest_to_itself_then_to_its_kin():
    seeds = [seed(number) for number in (3, 28, 49, 60)]
    corpus = Corpus(seeds)
    made, _ = child(seed(28), "increase/in_depth")
    assert [match.id for match in corpus.nearest(seed(28), most=1)] == [seed(28).id]
    assert corpus.nearest(seed(28))[0].similarity == 1.0
    assert corpus.nearest(made)[0].id == seed(28).id
    assert corpus.nearest(made, sources=[Source.CANDIDATE]) == []


def test_the_order_of_additions_does_not_matter():
    made = [child(seed(28), action)[0] for action in ("increase/in_depth", "diversify/in_depth")]
    first, second = Corpus([seed(28)]), Corpus([seed(28)])
    for one in made:
        first.add(one)
    for one in reversed(made):
        second.add(one)
    assert first.nearest(seed(28)) == second.nearest(seed(28))


def test_the_scripts_that_every_task_has_make_no_kin():
    corpus = Corpus([bundle("one", PARSER)])
    other = bundle("two", "Find out which process holds the lock on the database and end it politely.\n", "kill 1\n")
    assert corpus.nearest(other)[0].similarity == 0.0


def test_lines_that_many_seeds_share_do_not_count():
    line = (
        "Leave the machine as you found it, but for the files that are named here, and write with UTF-8 throughout.\n"
    )
    tasks = [bundle(f"t{n}", f"{line}Task {word} is about {word} and {word}s.\n") for n, word in enumerate("abcdef")]
    assert Corpus(tasks).nearest(tasks[0], most=2)[1].similarity < 0.1
    assert Corpus(tasks[:2]).nearest(tasks[0], most=2)[1].similarity > 0.3


def test_many_threads_may_add_and_ask():
    corpus = Corpus([seed(60)])
    threads = [threading.Thread(target=corpus.add, args=(bundle(f"t{n}", f"Do {n}.\n"),)) for n in range(8)]
    threads += [threading.Thread(target=corpus.nearest, args=(seed(60),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(corpus) == 9


# Evaluation sets


def test_a_set_of_directories_is_read(tmp_path):
    write_bundle(seed(3), tmp_path)
    write_bundle(seed(28), tmp_path)
    read = read_evaluation([tmp_path])
    assert sorted(document.id for document in read) == sorted([seed(3).id, seed(28).id])
    assert all(document.instruction and document.solution and document.tests for document in read)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"task_id": 7, "prompt": "Do it.", "answer": "42"}, Document("7", "Do it.", "42")),
        ({"instance_id": "x", "problem_statement": "P", "patch": "S", "test_patch": "T"}, Document("x", "P", "S", "T")),
        ({"tests": ["a", {"b": "c"}], "instruction": "I"}, Document("set.jsonl:1", "I", "", "a\nc")),
        ({"foo": "one", "bar": ["two"]}, Document("set.jsonl:1", "one\ntwo")),
    ],
)
def test_a_record_s_texts_are_found_by_their_usual_names(tmp_path, record, expected):
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(record) + "\n\n")
    assert read_evaluation([path]) == [expected]


@pytest.mark.parametrize("line", ["{", "[1]", '"text"', "\xff"])
def test_a_set_that_is_none_is_one_clear_line(tmp_path, line):
    path = tmp_path / "set.jsonl"
    path.write_bytes(line.encode("latin-1"))
    with pytest.raises(UserError, match=r"set\.jsonl"):
        read_evaluation([path])


def test_a_missing_set_is_one_clear_line(tmp_path):
    with pytest.raises(UserError, match="gone"):
        read_evaluation([tmp_path / "gone"])


def test_a_task_that_takes_over_most_of_an_instruction_is_a_hit():
    told = (
        PARSER
        + "Sections may be nested with dots, and a section without keys is printed too, in the order of the file.\n"
    )
    corpus = Corpus(evaluation=[Document("held-out", told)])
    copied = bundle("x", "You are on call tonight, and the pager has been quiet so far. " + told, "python3 parse.py\n")
    hit = corpus.evaluation_hit(copied)
    assert hit is not None
    assert (hit.id, hit.source) == ("held-out", Source.EVALUATION)
    assert corpus.evaluation_hit(bundle("y", "Write a parser for INI files.\n")) is None


def test_kin_of_an_evaluation_task_that_only_shares_wordings_is_no_hit():
    corpus = Corpus([seed(3)], evaluation=[Document("held-out", seed(28).instruction, "", "")])
    for action in ("increase/in_depth", "diversify/in_breadth"):
        assert corpus.evaluation_hit(child(seed(3), action)[0]) is None


def test_canaries_come_from_the_set_and_from_the_user():
    marked = Document("held-out", f"# canary GUID {GUID}\nDo it.\n")
    corpus = Corpus(evaluation=[marked], canaries=["SECRET-MARK"])
    assert corpus.canaries == (GUID, "SECRET-MARK")
    assert corpus.canary(bundle("x", "Do.\n", solution=f"# {GUID}\ntrue\n")) == GUID
    assert corpus.canary(bundle("x", "Do SECRET-MARK.\n")) == "SECRET-MARK"
    assert corpus.canary(bundle("x", f"Delete the row {GUID[:-1]}0.\n")) is None


# Eligibility


def test_a_seed_that_is_an_evaluation_task_may_not_take_part(tmp_path):
    write_bundle(seed(28), tmp_path)
    corpus = Corpus([seed(3), seed(28)], evaluation=read_evaluation([tmp_path]))
    assert "evaluation task 28-audit-top-k" in overlap_risk(seed(28), corpus)
    assert overlap_risk(seed(3), corpus) == ""


def test_a_seed_with_a_canary_may_not_take_part():
    corpus = Corpus(canaries=[GUID])
    assert GUID in overlap_risk(bundle("x", f"<!-- canary {GUID} -->\nDo.\n"), corpus)


def test_without_evaluation_sets_everything_may_take_part():
    assert overlap_risk(seed(3), Corpus([seed(3)])) == ""
