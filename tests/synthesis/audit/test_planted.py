"""Faults planted into sound children are found, under the right code."""

import pytest

from envs_forge.bundle.model import BundleFile
from envs_forge.plan.model import ACTIONS
from envs_forge.synthesis.audit.check import audit
from envs_forge.synthesis.audit.model import AuditCode as Code
from envs_forge.synthesis.overlap.corpus import Corpus, Source

from ..scripted import faults
from .children import assignment, child, corpus, seed

PLANTED = {
    faults.instruction_only: Code.PART_UNCHANGED,
    faults.near_copy: Code.NEAR_COPY_PARENT,
    faults.renamed: Code.NAMES_ONLY,
    faults.oracle_told: Code.ANSWER_IN_INSTRUCTION,
    faults.answer_told: Code.ANSWER_IN_INSTRUCTION,
    faults.path_unsaid: Code.UNSTATED_PATH,
    faults.value_mismatch: Code.PARAMETER_MISMATCH,
    faults.network_on: Code.FORBIDDEN_CHANGE,
}
MANY = (3, 11, 28, 49)


def codes(parent, made, asked, pool=None):
    return [finding.code for finding in audit(parent, made, asked, pool=pool or corpus())]


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found(fault):
    pool, planted = corpus(), 0
    for number, action in zip(MANY, (ACTIONS[0], ACTIONS[1], ACTIONS[2], ACTIONS[5]), strict=True):
        parent = seed(number)
        made = child(parent, action)
        spoilt = fault(parent, made[0]) if made else None
        if spoilt is not None:
            planted += 1
            assert PLANTED[fault] in codes(parent, spoilt, made[1], pool), (parent.id, str(action))
    assert planted


SPOKEN = (
    "The new environment should introduce constraints and edge cases that the data contains.",
    "In the new environment, the lines are sorted by size.",
    "This is harder than the seed task, with an expected\npass rate of 0.5.",
    "An increase/in_depth of what was asked before.",
    "Move the seed to where the agent learns most.",
    "The new task should add a tie-break.",
)
UNSPOKEN = (
    "Write the environment variables to `/app/env.txt`, one a line; new ones come first.",
    "The seed of the random numbers is 7; original files stay where they are.",
    "Count the tasks that are new, and the pass rate of each class.",
    "Make a virtual environment; the new directory is `/app/venv`.",
    "The queue is `/app/tasks.csv`. Append the new task; the new task has the status `open`.",
    "Restore the original instruction file `/app/manual.txt` and the original environment variables.",
    "The columns are `id`, `in_depth` and `in_breadth`; the previous task is the one above.",
)


@pytest.mark.parametrize("words", [*SPOKEN, *UNSPOKEN])
def test_an_instruction_that_speaks_of_its_making_is_found(words):
    parent = seed(3)
    bundle, asked = child(parent, "increase/in_depth")
    text = f"{bundle.instruction}\n{words}\n"
    files = {**bundle.files, "instruction.md": BundleFile(data=text.encode())}
    found = codes(parent, bundle.model_copy(update={"files": files}), asked)
    assert (Code.ASSIGNMENT_IN_INSTRUCTION in found) is (words in SPOKEN)


def test_an_unchanged_part_is_named():
    parent = seed(3)
    made = child(parent, "increase/in_depth")
    found = audit(parent, faults.instruction_only(parent, made[0]), made[1], pool=corpus())
    assert [finding.where for finding in found if finding.code == Code.PART_UNCHANGED] == ["D", "S", "T"]


EMPTY = {"environment/data/.keep": "", "solution/.keep": "", "tests/.keep": ""}
NOTHING = {"environment/data/build/parts.csv": " ,\n", "solution/solve.sh": "true\n", "tests/check.py": "0\n"}
TRIFLES = {
    "environment/data/build/parts.csv": "b1,failed,core,note,1,2,2025-01-01\n",
    "solution/solve.sh": "echo done\n",
    "tests/test.sh": "ls /app\n",
}


@pytest.mark.parametrize("action", ["increase/in_breadth", "increase/in_depth", "diversify/in_depth"])
@pytest.mark.parametrize("added", [EMPTY, NOTHING, TRIFLES], ids=["empty", "nothing", "trifles"])
def test_a_new_instruction_alone_is_no_new_task_whatever_is_added_beside(action, added):
    parent = seed(3)
    made, asked = child(parent, action)
    spoilt = faults.instruction_only(parent, made)
    texts = {path: (faults.text(parent, path) if path in parent.files else "") + more for path, more in added.items()}
    found = audit(parent, faults.with_files(spoilt, texts), asked, pool=corpus())
    assert Code.NEAR_COPY_PARENT in {finding.code for finding in found}
    unchanged = [finding.where for finding in found if finding.code == Code.PART_UNCHANGED]
    assert unchanged == ([] if added is TRIFLES else ["D", "S", "T"])


def test_an_increase_may_keep_all_that_there_was():
    parent = seed(3)
    _, asked = child(parent, "increase/in_breadth")
    count = '{"name": "2. count", "reader": "table", "path": "/app/release/count.txt", "lines": ["7"]}'
    texts = {
        "instruction.md": faults.text(parent, "instruction.md")
        + "\nThen count the rows that you kept, without the header, for each `owner`, and write one line for each of "
        "them to `/app/release/count.txt`: the owner, a tab, the number; the largest number first, ties by name.\n",
        "environment/data/build/parts.csv": faults.text(parent, "environment/data/build/parts.csv")
        + "b00300,failed,core,note,1,2,2025-01-01\n",
        "solution/solve.sh": faults.text(parent, "solution/solve.sh")
        + "tail -n +2 /app/release/matching.csv | cut -d, -f3 | sort | uniq -c | sort -k1,1nr -k2,2 |\n"
        + "    awk '{ print $2 \"\\t\" $1 }' > /app/release/count.txt\n",
        "tests/expected.json": faults.text(parent, "tests/expected.json").replace("]}\n]", "]},\n" + count + "\n]"),
    }
    kept = faults.with_files(parent, texts)
    assert codes(parent, kept, asked) == []
    assert codes(parent, kept, assignment(parent, "diversify/in_depth"))[0] == Code.NEAR_COPY_PARENT


def test_programs_that_are_kept_make_no_copy_in_a_small_pool():
    for action in ("diversify/in_depth", "increase/in_depth"):
        for number in (3, 60):
            made, asked = child(seed(number), action)
            assert codes(seed(number), made, asked, Corpus()) == []


@pytest.mark.parametrize("number", MANY)
@pytest.mark.parametrize("action", ["increase/in_depth", "diversify/in_depth", "diversify/in_breadth"])
def test_idle_words_do_not_hide_a_copy_under_other_names(number, action):
    parent = seed(number)
    made, asked = child(parent, action)
    renamed = faults.renamed(parent, made)
    texts = {
        "instruction.md": "\nThe team is grateful for any help, and nobody minds if it takes until the evening.\n" * 2,
        "solution/solve.sh": "# " + " ".join(f"note{n} careful" for n in range(30)) + "\ntrue\n",
    }
    padded = faults.with_files(renamed, {path: faults.text(renamed, path) + more for path, more in texts.items()})
    assert Code.NAMES_ONLY in codes(parent, padded, asked)


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("increase/in_depth", "reduce/in_depth"),
        ("increase/in_breadth", "reduce/in_breadth"),
        ("reduce/in_depth", "increase/in_depth"),
        ("reduce/in_breadth", "increase/in_breadth"),
    ],
)
def test_a_change_in_the_wrong_direction_is_found(asked, given):
    parent = seed(49)
    made, _ = child(parent, given)
    assert Code.WRONG_DIRECTION in codes(parent, made, assignment(parent, asked))


def test_a_diversification_that_shrinks_the_task_is_found():
    parent = seed(12)
    smaller, _ = child(parent, "reduce/in_breadth")
    assert Code.WRONG_DIRECTION in codes(parent, smaller, assignment(parent, "diversify/in_depth"))


def test_a_reduction_has_to_change_the_image():
    parent = seed(49)
    made, asked = child(parent, "reduce/in_depth")
    same = faults.with_files(made, {"environment/Dockerfile": faults.text(parent, "environment/Dockerfile")})
    assert codes(parent, same, asked)[0] == Code.PART_UNCHANGED


def test_another_kind_of_file_loses_the_skill_of_the_seed():
    parent, other = seed(3), seed(61)
    made, _ = child(other, "diversify/in_depth")
    asked = assignment(parent, "diversify/in_breadth", required=("artifact/csv",))
    assert Code.SKILL_LOST in codes(parent, made, asked)


def test_a_skill_that_the_task_does_not_declare_is_lost():
    parent = seed(3)
    made, asked = child(parent, "increase/in_depth")
    more = asked.model_copy(update={"required": (*asked.required, "operation/top-k")})
    assert codes(parent, made, asked) == []
    assert codes(parent, made, more) == [Code.SKILL_LOST]


def test_a_copy_of_another_seed_or_of_an_accepted_candidate_is_found():
    parent = seed(3)
    made, asked = child(parent, "diversify/in_breadth")
    pool = corpus()
    pool.add(made.model_copy(update={"id": "accepted"}))
    assert codes(parent, made, asked, pool) == [Code.NEAR_COPY_CANDIDATE]
    assert Code.NEAR_COPY_SEED in codes(parent, seed(19).model_copy(update={"id": "x"}), asked, pool)


def test_what_repeats_an_evaluation_task_is_found():
    parent = seed(3)
    made, asked = child(parent, "diversify/in_breadth")
    pool = corpus()
    pool.add(made.model_copy(update={"id": "held-out"}), Source.EVALUATION)
    assert codes(parent, made, asked, pool) == [Code.EVALUATION_OVERLAP]


def test_a_compose_file_is_more_than_the_seed_needed():
    parent = seed(3)
    made, asked = child(parent, "increase/in_depth")
    composed = faults.with_files(made, {"environment/docker-compose.yaml": "services: {main: {build: .}}\n"})
    assert Code.FORBIDDEN_CHANGE in codes(parent, composed, asked)


def test_evidence_is_short_enough_to_be_shown_to_a_model():
    parent = seed(49)
    made, asked = child(parent, "increase/in_depth")
    for fault in (faults.instruction_only, faults.renamed, faults.oracle_told):
        for finding in audit(parent, fault(parent, made), asked, pool=corpus()):
            assert 0 < len(finding.evidence) < 1500, finding
