"""When a part means something else, and when it only looks different."""

import pytest

from envs_forge.bundle.model import Part
from envs_forge.synthesis.audit.parts import meaning_of, part_of

from ..scripted.faults import text, with_files
from .children import seed

SEED = seed(3)


def same(part, path, change):
    return meaning_of(SEED, part) == meaning_of(with_files(SEED, {path: change(text(SEED, path))}), part)


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("instruction.md", Part.INSTRUCTION),
        ("task.toml", None),
        ("environment/Dockerfile", Part.IMAGE),
        ("environment/docker-compose.yaml", Part.IMAGE),
        ("environment/data/Dockerfile.csv", Part.IMAGE),
        ("environment/data/x.csv", Part.DATA),
        ("solution/solve.sh", Part.SOLUTION),
        ("tests/a/b.py", Part.TESTS),
    ],
)
def test_every_file_belongs_to_one_part(path, part):
    assert part_of(path) is part


@pytest.mark.parametrize(
    ("part", "path", "change"),
    [
        (Part.INSTRUCTION, "instruction.md", lambda t: t.replace("\n\n", "\n \n\n").upper()),
        (Part.INSTRUCTION, "instruction.md", lambda t: t + "<!-- changed -->\n"),
        (Part.SOLUTION, "solution/solve.sh", lambda t: t.replace("# 1.", "# first: ").replace("\n(", "\n\n(")),
        (Part.TESTS, "tests/check.py", lambda t: t.replace('"""Check', '"""Do check') + "# more\n"),
        (Part.TESTS, "tests/expected.json", lambda t: t.replace(", ", ",   ")),
        (Part.IMAGE, "environment/Dockerfile", lambda t: "# mine\n" + t + "\n"),
        (Part.DATA, "environment/data/build/parts.csv", lambda t: t + "\n"),
        (Part.DATA, "environment/data/build/parts.csv", lambda t: t + " ,\n"),
        (Part.SOLUTION, "solution/solve.sh", lambda t: t + "true\n"),
        (Part.TESTS, "tests/test.sh", lambda t: t.replace("reward=0\n", "reward=0\n:\n")),
        (Part.TESTS, "tests/check.py", lambda t: t.replace("    failed =", "    pass\n    assert True\n    failed =")),
        (Part.IMAGE, "environment/Dockerfile", lambda t: t + "RUN true\n"),
    ],
)
def test_layout_and_comments_are_no_change(part, path, change):
    assert same(part, path, change)


@pytest.mark.parametrize(
    ("part", "path", "change"),
    [
        (Part.INSTRUCTION, "instruction.md", lambda t: t.replace("skipped", "failed")),
        (Part.SOLUTION, "solution/solve.sh", lambda t: t.replace("'skipped'", "'failed'")),
        (Part.SOLUTION, "solution/solve.sh", lambda t: t + "rm /app/release/*.tmp || true\n"),
        (Part.DATA, "environment/data/build/parts.csv", lambda t: t + "x,\n"),
        (Part.TESTS, "tests/check.py", lambda t: t.replace("return 1 if failed", "return 2 if failed")),
        (Part.TESTS, "tests/expected.json", lambda t: t.replace("b00163", "b00164")),
        (Part.IMAGE, "environment/Dockerfile", lambda t: t.replace("depot", "store")),
        (Part.DATA, "environment/data/build/parts.csv", lambda t: t.replace("b00163", "b00164")),
    ],
)
def test_one_value_is_a_change(part, path, change):
    assert not same(part, path, change)


def test_another_name_of_a_file_is_no_change_of_the_data():
    files = dict(SEED.files)
    files["environment/data/build/other.csv"] = files.pop("environment/data/build/parts.csv")
    assert meaning_of(SEED, Part.DATA) == meaning_of(SEED.model_copy(update={"files": files}), Part.DATA)


def test_without_files_of_data_the_dockerfile_makes_it():
    files = {path: file for path, file in SEED.files.items() if not path.startswith("environment/data")}
    bare = SEED.model_copy(update={"files": files})
    assert meaning_of(bare, Part.DATA) == meaning_of(bare, Part.IMAGE)
