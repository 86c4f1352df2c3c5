from __future__ import annotations

import pytest

from envs_forge.errors import UserError
from envs_forge.plan.shelltext import commands_of, imports_of, installed_by, parts_of, paths_in, strings_of
from envs_forge.plan.skills import NodeType, load_graph
from envs_forge.plan.tagging import TaskTexts, build_rules, package_rules, tag


def test_commands_libraries_files_and_words_each_betray_a_skill() -> None:
    assert "tool/jq" in tag(TaskTexts("Do it.", solution="cat x | jq .a"))
    assert "artifact/tar-archive" in tag(TaskTexts("Do it.", solution="python3 - <<'E'\nimport tarfile\nE\n"))
    assert "artifact/csv" in tag(TaskTexts("Read `/app/in/Sales.CSV`."))
    assert "constraint/transactions" in tag(TaskTexts("The program is all\nor nothing."))
    assert "tool/gcc" in tag(TaskTexts("Do it.", dockerfile="RUN apt-get update && apt-get install -y gcc=4:12.2"))


def test_near_misses_betray_nothing() -> None:
    texts = TaskTexts(
        "Look at the result; nullable is no skill, nor is csvkit.",
        solution="echo 'jq | awk' # sed\nmyjq\nprintf '%s' \"$sort\"\n",
        tests="#!/bin/bash\nimport csv\ngrep -q x /tests/a.csv && echo 1 > /logs/verifier/reward.json\n",
    )
    assert tag(texts) == ()


def test_tests_tell_of_the_files_that_they_check() -> None:
    assert tag(TaskTexts("Do it.", tests="cmp /app/out.tsv /tests/want.csv")) == ("artifact/tsv",)


def test_domains_need_an_operation_and_an_artifact() -> None:
    assert "domain/sqlite" not in tag(TaskTexts("See `shop.db`."))
    assert "domain/sqlite" in tag(TaskTexts("Migrate the database `shop.db`."))


def test_a_hook_adds_what_the_graph_knows_and_its_domains() -> None:
    seen: list[TaskTexts] = []

    def hook(texts: TaskTexts) -> list[str]:
        seen.append(texts)
        return ["operation/json-edit", "operation/juggling"]

    texts = TaskTexts("Change `a.json`.")
    assert tag(texts) == ("artifact/json",)
    assert tag(texts, hook=hook) == ("artifact/json", "domain/json", "operation/json-edit")
    assert seen == [texts]


def test_phrases_span_a_few_words_of_one_sentence() -> None:
    assert "operation/git-conflict" in tag(
        TaskTexts("Please resolve the two\nconflicting sides: resolve that conflict.")
    )
    assert "operation/git-conflict" not in tag(TaskTexts("Resolve the names. There is a conflict of interest."))


def test_every_rule_is_about_a_skill_and_every_skill_but_domains_has_a_rule() -> None:
    graph = load_graph()
    ruled = [rule.skill for rule in package_rules()]
    assert len(ruled) == len(set(ruled))
    assert set(ruled) == set(graph.nodes) - set(graph.of_type(NodeType.DOMAIN))
    assert all(rule.commands or rule.files or rule.libraries or rule.words for rule in package_rules())


def test_rules_that_make_no_sense_are_named_in_one_line() -> None:
    table = {"tool": {"juq": {"commands": ["jq"]}, "jq": {"command": ["jq"], "words": "jq", "files": [""]}}}
    with pytest.raises(UserError) as caught:
        build_rules(table, load_graph())
    message = caught.value.message
    for part in ("unknown skill tool/juq", "unknown key command", "tool/jq: words", "tool/jq: files"):
        assert part in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        ("LC_ALL=C sort -u f | uniq -c", ["sort", "uniq"]),
        ("sudo /usr/bin/find . -print0 | xargs -0 -r rm -f --", ["sudo", "find", "xargs", "rm"]),
        ("timeout 5 env A=1 make", ["timeout", "env", "make"]),
        ("if grep -q x f; then tar x; else gzip f; fi", ["grep", "tar", "gzip", "fi"]),
        ("a=$(sed 1d f) && cut -f1 \\\n  f", ["sed", "cut"]),
        ("# awk\necho 'jq; tr'", ["echo"]),
    ],
)
def test_words_in_command_position(script: str, commands: list[str]) -> None:
    assert [word for word in commands_of(script) if word != "a"] == commands


def test_python_is_told_from_shell() -> None:
    script = (
        "set -e\ncat > p <<'PY'\n#!/usr/bin/env python3\nimport os.path, json\nfrom csv import reader\nPY\nsort f\n"
    )
    shell, python = parts_of(script)
    assert "json" not in shell
    assert {"cat", "sort"} <= set(commands_of(shell))
    assert imports_of(python) == {"os", "os.path", "json", "csv"}
    assert parts_of("import json\nprint(1)\n")[0] == ""
    assert parts_of("cat <<E | sqlite3 a.db\nselect 1;\nE\n")[1] == ""
    assert strings_of("f('a.csv', x.c, \"b.db\")") == "a.csv\nb.db"


def test_packages_and_paths() -> None:
    dockerfile = "RUN apt-get update && apt-get install -y --no-install-recommends \\\n  jq git=1:2 && rm -rf x"
    assert installed_by(dockerfile) == {"jq", "git"}
    assert installed_by("RUN pip install jq") == frozenset()
    found = paths_in("See `/app/a b.CSV`, logs/x.log.2.gz and .env. The Makefile too.")
    assert {"b.CSV", "logs/x.log.2.gz", ".env", "Makefile"} <= set(found)


def test_any_text_is_read_without_a_fault() -> None:
    noise = "".join(map(chr, range(1, 400))) * 20 + "<<E\n$(((`{{{"
    assert isinstance(tag(TaskTexts(noise, noise, noise, noise)), tuple)
