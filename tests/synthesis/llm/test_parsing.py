from __future__ import annotations

import tomllib

import pytest

from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import make_bundle
from envs_forge.synthesis.llm.envelope import Envelope, write_envelope
from envs_forge.synthesis.llm.faults import AnswerFault, Unreadable
from envs_forge.synthesis.llm.manifest import slug
from envs_forge.synthesis.llm.parsing import parse_answer

MANIFEST = """
schema_version = "1.4"
unknown = "kept"

[task]
name = "us/seed"
description = "the seed"

[metadata]
category = "logs"
skills = ["operation/sort"]

[metadata.envs_forge]
composition = {version = 1}

[agent]
timeout_sec = 300.0

[environment]
network_mode = "no-network"
memory_mb = 512
"""
FILES = {
    "instruction.md": "# Sort the logs\n\nDo it.\n",
    "environment/Dockerfile": "FROM debian:12.11-slim\nCOPY data/ /app/\n",
    "environment/data/a.log": "b\na\n",
    "environment/data/blob": "\0\1",
    "solution/solve.sh": "#!/bin/bash\nsort /app/a.log > /app/b\n",
    "tests/test.sh": "#!/bin/bash\necho 0 > /logs/verifier/reward.txt\n",
    "tests/check.py": "print(1)\n",
}


def seed(manifest: str = MANIFEST) -> Bundle:
    files = {
        path: BundleFile(data=text.encode(), mode=0o755 if ".sh" in path else 0o644) for path, text in FILES.items()
    }
    return make_bundle("seed", {**files, "task.toml": BundleFile(data=manifest.encode())})


def answer(change: dict[str, str | None] | None = None, extra: str = "") -> str:
    files = {path: text for path, text in {**FILES, **(change or {})}.items() if text is not None and "\0" not in text}
    return "".join(f"@@ FILE {path}\n{text}@@ END\n" for path, text in files.items()) + extra


def parsed(text: str, parent: Bundle | None = None) -> Bundle:
    found = parse_answer(text, parent or seed())
    assert not isinstance(found, Unreadable), found
    return found[0]


def fault(text: str, parent: Bundle | None = None) -> Unreadable:
    found = parse_answer(text, parent or seed())
    assert isinstance(found, Unreadable), found
    return found


def table(bundle: Bundle) -> dict[str, object]:
    return tomllib.loads(bundle.files["task.toml"].data.decode())


def test_a_whole_answer_is_a_bundle_with_the_seed_s_limits_and_a_name_of_its_own() -> None:
    bundle = parsed(answer())
    assert set(bundle.files) == (set(FILES) | {"task.toml"}) - {"environment/data/blob"}
    found = table(bundle)
    assert found["task"] == {"name": "envs-forge/sort-the-logs"}
    assert found["metadata"] == {"category": "logs"}
    assert (bundle.config.agent_timeout_sec, bundle.config.environment.memory_mb) == (300.0, 512)
    assert found["unknown"] == "kept"
    assert bundle.provenance == {}
    assert bundle.files["solution/solve.sh"].mode == 0o755


def test_equal_answers_have_equal_content_whatever_draw_they_are() -> None:
    assert content_hash(parsed(answer())) == content_hash(parsed("Sure:\n" + answer()))


def test_files_of_the_seed_are_kept_by_name_or_by_directory() -> None:
    kept = answer(
        {"tests/check.py": None, "environment/data/a.log": None}, "@@ KEEP tests/check.py\n@@ KEEP environment/data/\n"
    )
    bundle = parsed(kept)
    assert bundle.files["tests/check.py"] == seed().files["tests/check.py"]
    assert bundle.files["environment/data/blob"].data == b"\0\1"
    assert fault(answer({}, "@@ KEEP tests/none.py\n")).code is AnswerFault.KEEP_UNKNOWN
    assert fault(answer({}, "@@ KEEP tests/check.py\n")).code is AnswerFault.DUPLICATE_FILE


def test_what_a_model_may_set_is_set_and_the_rest_is_the_seed_s() -> None:
    text = (
        '[task]\nname = "x"\ndescription = "new"\n[agent]\ntimeout_sec = 60\n[metadata]\nauthor = "me"\ntags = ["a"]\n'
    )
    bundle = parsed(answer({"task.toml": text}))
    assert bundle.config.agent_timeout_sec == 60
    assert table(bundle)["task"] == {"name": "envs-forge/sort-the-logs", "description": "new"}
    assert table(bundle)["metadata"] == {"category": "logs", "tags": ["a"]}


def test_skills_that_an_answer_declares_stand_in_the_metadata_of_the_task() -> None:
    def declared(meta: str) -> object:
        skills = table(parsed(f"@@ META\n{meta}\n@@ END\n" + answer({"task.toml": MANIFEST})))["metadata"]
        assert isinstance(skills, dict)
        return skills.get("skills")

    assert declared("skills: Tool/JQ, operation/top-k; `artifact/csv`.") == [
        "artifact/csv",
        "operation/top-k",
        "tool/jq",
    ]
    assert declared('{"skills": ["tool/jq", "tool/jq", "tool/none"]}') == ["tool/jq"]
    for nothing in ("change: x", "skills: sorting, top-k", '{"skills": {"a": 1}}'):
        assert declared(nothing) is None


@pytest.mark.parametrize(
    "text",
    [
        "not toml\n",
        '[environment]\nnetwork_mode = "public"\n',
        "[environment]\nallow_internet = true\n",
        '[environment]\ndocker_image = "evil:1"\n',
        '[environment.env]\nKEY = "${OPENAI_API_KEY}"\n',
        '[verifier.env]\nKEY = "${OPENAI_API_KEY}"\n',
        '[solution.env]\nKEY = "x"\n',
        "[agent]\ntimeout_sec = 1e9\n",
        "[agent]\ntimeout_sec = true\n",
        '[agent]\nuser = "nobody"\n',
        '[[steps]]\nname = "a"\n',
        "[environment]\ngpus = 1\n",
    ],
)
def test_a_model_decides_neither_on_networks_nor_on_variables_of_the_host(text: str) -> None:
    assert fault(answer({"task.toml": text})).code is AnswerFault.CONFIG


def test_the_seed_s_own_manifest_is_taken() -> None:
    assert parsed(answer({"task.toml": MANIFEST})).config.environment.network is False


@pytest.mark.parametrize("path", ["instruction.md", "environment/Dockerfile", "solution/solve.sh", "tests/test.sh"])
def test_no_part_may_be_missing_or_empty(path: str) -> None:
    for text in (None, "", " \n"):
        found = fault(answer({path: text}))
        assert (found.code, path in found.evidence) == (AnswerFault.PART_MISSING, True)


@pytest.mark.parametrize(
    "line",
    ["COPY data/ /app/", "  add --chown=1:1 data /app", 'COPY ["data", "/app"]', "COPY --chmod=644 \\\n  ./x /y"],
)
def test_data_that_the_image_is_built_from_may_not_be_missing(line: str) -> None:
    found = fault(
        answer({"environment/data/a.log": None, "environment/Dockerfile": f"FROM debian:12.11-slim\n{line}\n"})
    )
    assert (found.code, "no file of data" in found.evidence) == (AnswerFault.PART_MISSING, True)


@pytest.mark.parametrize(
    "line",
    [
        "RUN seq 9 > /app/x",
        "COPY --from=other /a /b",
        "COPY . /app",
        "ADD https://e.org/x /x",
        "COPY <<E /x\nhi\nE",
        "COPY $X /app",
        "# COPY data/ /app/",
    ],
)
def test_an_image_may_make_its_data(line: str) -> None:
    parsed(answer({"environment/data/a.log": None, "environment/Dockerfile": f"FROM debian:12.11-slim\n{line}\n"}))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"README.md": "hi\n"}, AnswerFault.PATH_FOREIGN),
        ({".github/x": "hi\n"}, AnswerFault.PATH_FOREIGN),
        ({"tests/test.sh": "#!/bin/bash\r\necho\r\n"}, AnswerFault.CRLF),
        ({"environment/Dockerfile": "FROM debian:12\r\nRUN true\r\n"}, AnswerFault.CRLF),
        ({"tests": "a file\n"}, AnswerFault.PATH_FOREIGN),
        ({"tests/test.sh/x": "a file below a file\n"}, AnswerFault.BUNDLE),
        ({"solution/solve.sh": "\ufeff#!/bin/bash\ntrue\n"}, AnswerFault.ENCODING),
    ],
)
def test_what_makes_no_task_has_its_code(change: dict[str, str | None], code: AnswerFault) -> None:
    assert fault(answer(change)).code is code


def test_links_may_not_leave() -> None:
    assert fault(answer({}, "@@ LINK environment/data/x -> /etc/passwd\n")).code is AnswerFault.PATH_ESCAPES
    assert fault(answer({}, "@@ LINK environment/data/x -> ../../../x\n")).code is AnswerFault.PATH_ESCAPES
    assert parsed(answer({}, "@@ LINK environment/data/x -> a.log\n")).files["environment/data/x"].target == "a.log"


def test_a_serialised_bundle_comes_back_but_for_what_speaks_of_the_seed() -> None:
    found = parse_answer(write_envelope(seed()), seed())
    assert not isinstance(found, Unreadable)
    bundle, envelope = found
    assert isinstance(envelope, Envelope)
    same = {path: file for path, file in seed().files.items() if path != "task.toml"}
    assert {path: file for path, file in bundle.files.items() if path != "task.toml"} == same


def test_names_are_made_of_any_first_line() -> None:
    assert slug("\n\n## Ünder the Hood!! 2\n") == "nder-the-hood-2"
    assert slug("") == slug("###\n!!!") == "task"
