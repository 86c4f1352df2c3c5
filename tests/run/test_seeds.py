from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from envs_forge.errors import UserError
from envs_forge.run.seeds import load_seeds, select_paths

TOML = 'schema_version = "1.4"\n'
TEST = """\
#!/bin/bash
if [ "$(cat /app/done.txt)" = yes ]; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
"""


def task(
    root: Path, name: str, *, text: str = "Write yes to /app/done.txt.\n", tests: bool = True, toml: str = TOML
) -> Path:
    place = root / name
    for part, content in {
        "instruction.md": text,
        "task.toml": toml,
        "environment/Dockerfile": "FROM ubuntu:24.04\nWORKDIR /app\n",
        "solution/solve.sh": "#!/bin/bash\necho yes > /app/done.txt\n",
        **({"tests/test.sh": TEST} if tests else {}),
    }.items():
        (place / part).parent.mkdir(parents=True, exist_ok=True)
        (place / part).write_text(content)
    return place


def test_globs_and_limit_choose_by_name(tmp_path: Path) -> None:
    for name in ("b-2", "a-1", "a-2", "c-1"):
        task(tmp_path, name)

    def chosen(**how: object) -> list[str]:
        return [path.name for path in select_paths([tmp_path], **how)]  # type: ignore[arg-type]

    assert chosen() == ["a-1", "a-2", "b-2", "c-1"]
    assert chosen(include=["a-*", "c-*"], exclude=["*-2"]) == ["a-1", "c-1"]
    assert chosen(limit=2) == ["a-1", "a-2"]
    with pytest.raises(UserError, match="none of the 4 tasks has a name that -i and -x let through"):
        chosen(include=["z*"])


def test_an_empty_pool_and_a_missing_one_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no tasks here"):
        select_paths([tmp_path])
    with pytest.raises(UserError, match="no such directory"):
        select_paths([tmp_path / "nothing"])
    with pytest.raises(UserError, match="no task directory was given"):
        select_paths([])


def test_all_broken_tasks_are_named_in_one_line(tmp_path: Path) -> None:
    task(tmp_path, "good")
    task(tmp_path, "toothless", tests=False)
    task(tmp_path, "broken", toml="schema_version = ")
    with pytest.raises(UserError) as caught:
        load_seeds(select_paths([tmp_path]))
    line = str(caught.value)
    assert "\n" not in line
    assert "toothless: tests/test.sh: no tests/test.sh [tests-missing]" in line
    assert "broken: task.toml" in line
    assert "good" not in line


def test_equal_content_counts_once_and_equal_names_are_refused(tmp_path: Path) -> None:
    one = task(tmp_path / "x", "same")
    shutil.copytree(one, tmp_path / "y" / "copy")
    assert [seed.id for seed in load_seeds([one, tmp_path / "y" / "copy"])] == ["same"]
    other = task(tmp_path / "z", "same", text="Do something else.\n")
    with pytest.raises(UserError, match="two different tasks are called same"):
        load_seeds([one, other])
