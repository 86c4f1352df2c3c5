"""Terminal-Bench 1 directories become Harbor tasks, or are recognised as what cannot be one."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envs_forge.bundle import (
    Bundle,
    BundleError,
    check_bundle,
    content_hash,
    find_bundles,
    read_bundle,
    write_bundle,
)
from envs_forge.bundle.formats.terminal_bench import scripts
from envs_forge.bundle.support import unsupported

YAML = """\
# Canary string: do not train on this
# GUID 1234
instruction: |-
  Write "Hello, world!" to /app/hello.txt.

  No trailing newline.
author_name: somebody
difficulty: easy
category: file-operations
tags: [files, text]
parser_name: pytest
max_agent_timeout_sec: 900.0
max_test_timeout_sec: 180.0
run_tests_in_same_shell: false
estimated_duration_sec:
"""
COMPOSE = """\
services:
  client:
    build:
      dockerfile: Dockerfile
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: ["sh", "-c", "sleep infinity"]
    environment:
      - TEST_DIR=${T_BENCH_TEST_DIR}
    volumes:
      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}
"""
FILES = {
    "task.yaml": YAML,
    "Dockerfile": "FROM ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624\nWORKDIR /app\nCOPY data/ /app/\n",
    "docker-compose.yaml": COMPOSE,
    "solution.sh": "#!/bin/bash\nprintf 'Hello, world!' > /app/hello.txt\n",
    "run-tests.sh": "#!/bin/bash\npytest $TEST_DIR/test_outputs.py -rA\n",
    "tests/test_outputs.py": "def test_it():\n    assert open('/app/hello.txt').read() == 'Hello, world!'\n",
    "data/x.csv": "1,2\n",
}
Changes = Mapping[str, str | bytes | None]


def task(root: Path, changes: Changes | None = None) -> Path:
    for path, content in {**FILES, **(changes or {})}.items():
        if content is not None:
            place = root / "hello" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
    return root / "hello"


def read(root: Path, changes: Changes | None = None) -> Bundle:
    return read_bundle(task(root, changes))


def text(bundle: Bundle, path: str) -> str:
    return bundle.files[path].data.decode()


def codes(bundle: Bundle) -> list[str]:
    return [finding.code for finding in unsupported(bundle)]


def test_a_usual_task(tmp_path: Path) -> None:
    bundle = read(tmp_path)
    assert sorted(bundle.files) == [
        "environment/Dockerfile",
        "environment/data/x.csv",
        "instruction.md",
        "solution/solve.sh",
        "task.toml",
        "tests/run-tests.sh",
        "tests/test.sh",
        "tests/test_outputs.py",
    ]
    assert bundle.instruction == 'Write "Hello, world!" to /app/hello.txt.\n\nNo trailing newline.\n'
    assert bundle.files["solution/solve.sh"].mode == bundle.files["tests/test.sh"].mode == 0o755
    config = bundle.config
    assert (config.agent_timeout_sec, config.verifier_timeout_sec) == (900, 180)
    assert config.environment.network
    assert config.metadata["tags"] == ["files", "text"]
    assert "estimated_duration_sec" not in config.metadata
    assert text(bundle, "task.toml").startswith("# Canary string: do not train on this\n# GUID 1234\n")
    assert check_bundle(bundle) == check_bundle(tmp_path / "hello") == []
    assert codes(bundle) == []


def test_it_is_written_as_a_harbor_task(tmp_path: Path) -> None:
    assert find_bundles([task(tmp_path / "in").parent]) == [tmp_path / "in/hello"]
    bundle = read_bundle(tmp_path / "in/hello")
    again = read_bundle(write_bundle(bundle, tmp_path / "out"))
    assert again == bundle
    assert content_hash(again) == content_hash(bundle)


def test_older_wordings_and_defaults(tmp_path: Path) -> None:
    yaml = "descriptions:\n- key: hard\n  description: vague\n- key: base\n  description: clear\n"
    bundle = read(tmp_path, {"task.yaml": yaml, "docker-compose.yaml": None, "run-tests.sh": None})
    assert bundle.instruction == "clear\n"
    assert (bundle.config.agent_timeout_sec, bundle.config.verifier_timeout_sec) == (360, 60)
    assert "test_outputs.py" in text(bundle, "tests/run-tests.sh")


def test_what_the_compose_file_says_is_kept(tmp_path: Path) -> None:
    compose = """\
services:
  client:
    build: {context: ./box, dockerfile: image/Dockerfile}
    working_dir: /srv/work
    environment: {MODE: fast, TEST_DIR: "${T_BENCH_TEST_DIR}", PORT: 8080}
    network_mode: none
    deploy: {resources: {limits: {cpus: "2", memory: 4G}}}
"""
    changes = {"docker-compose.yaml": compose, "box/image/Dockerfile": "FROM debian:12\n", "box/a.txt": "a"}
    bundle = read(tmp_path, changes)
    environment = bundle.config.environment
    assert not environment.network
    assert (environment.cpus, environment.memory_mb, environment.workdir) == (2, 4096, "/srv/work")
    assert environment.env == {"MODE": "fast", "PORT": "8080"}
    assert text(bundle, "environment/Dockerfile") == "FROM debian:12\n"
    assert "environment/a.txt" in bundle.files
    assert "environment/data/x.csv" not in bundle.files
    assert codes(bundle) == []


def test_an_image_that_is_pulled(tmp_path: Path) -> None:
    compose = "services:\n  main:\n    image: debian:12.11-slim\n"
    bundle = read(tmp_path, {"docker-compose.yaml": compose, "Dockerfile": None})
    assert bundle.config.environment.docker_image == "debian:12.11-slim"
    assert check_bundle(bundle) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"docker-compose.yaml": COMPOSE + "  db:\n    image: a:1\n    pid: host\n"}, "compose-refused"),
        ({"docker-compose.yaml": COMPOSE + "    privileged: true\n"}, "compose-keys"),
        ({"docker-compose.yaml": COMPOSE + "      - /var/run/docker.sock:/var/run/docker.sock\n"}, "compose-keys"),
        ({"docker-compose.yaml": COMPOSE.replace("dockerfile: Dockerfile", "args: {A: 1}")}, "compose-keys"),
        ({"docker-compose.yaml": COMPOSE.replace("environment:", "environment:\n      - API_KEY")}, "host-variables"),
        ({"task.yaml": YAML.replace("parser_name: pytest", "parser_name: mlebench")}, "unsupported-parser"),
        ({"task.yaml": YAML.replace("same_shell: false", "same_shell: true")}, "tests-in-agent-shell"),
        ({"solution.sh": None, "solution.yaml": "- command: vim x\n- command: ':wq'\n  append_enter: false\n"},
         "interactive-solution"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_unsupported_and_not_broken(tmp_path: Path, changes: Changes, code: str) -> None:
    bundle = read(tmp_path, changes)
    assert codes(bundle) == [code]
    assert check_bundle(bundle) == []


def test_other_services_keep_what_they_are_built_from(tmp_path: Path) -> None:
    compose = "services:\n  client:\n    build: ./box\n  api:\n    build: ./api\n"
    bundle = read(
        tmp_path, {"docker-compose.yaml": compose, "box/Dockerfile": "FROM a:1\n", "api/Dockerfile": "FROM b:1\n"}
    )
    assert text(bundle, "environment/Dockerfile") == "FROM a:1\n"
    assert text(bundle, "environment/api/Dockerfile") == "FROM b:1\n"


def test_the_image_gets_solution_and_tests_only_where_they_are_named(tmp_path: Path) -> None:
    everything = read(tmp_path / "a", {"Dockerfile": "FROM x:1\nCOPY . /app\n"})
    assert not [p for p in everything.files if p.startswith(("environment/tests", "environment/solution"))]
    named = read(tmp_path / "b", {"Dockerfile": "FROM x:1\nCOPY tests/ /app/tests/\n"})
    assert "environment/tests/test_outputs.py" in named.files
    assert "environment/solution.sh" not in named.files


def test_a_solution_that_is_typed(tmp_path: Path) -> None:
    keys = "- command: cd /app\n- command: make\n  min_timeout_sec: 2\n"
    keys += "- command: ls\n  min_timeout_sec: 5\n  block: true\n"
    bundle = read(tmp_path, {"solution.sh": None, "solution.yaml": keys})
    assert text(bundle, "solution/solve.sh") == "#!/bin/bash\ncd /app\nmake\nsleep 2\nls\n"


def test_shared_scripts_are_brought_along(tmp_path: Path) -> None:
    run = "source $TEST_DIR/setup-uv-pytest.sh\nbash $TEST_DIR/run-uv-pytest.sh\n"
    bundle = read(tmp_path, {"run-tests.sh": run})
    assert {"tests/setup-uv-pytest.sh", "tests/run-uv-pytest.sh"} <= set(bundle.files)


@pytest.mark.parametrize(
    ("changes", "code", "line"),
    [
        ({"task.yaml": "instruction: [1\nx: y: z\n"}, "yaml-syntax", 2),
        ({"task.yaml": "- a\n"}, "yaml-schema", None),
        ({"task.yaml": "difficulty: easy\n"}, "yaml-schema", None),
        ({"task.yaml": "instruction: x\nmax_agent_timeout_sec: soon\n"}, "yaml-schema", None),
        ({"task.yaml": "instruction: x\n".encode("utf-16")}, "encoding-utf16", 1),
        ({"docker-compose.yaml": "services: {}\n"}, "compose-unreadable", None),
        ({"docker-compose.yaml": ": : :\n"}, "compose-unreadable", None),
    ],
)
def test_what_is_broken_is_a_finding(tmp_path: Path, changes: Changes, code: str, line: int | None) -> None:
    path = task(tmp_path, changes)
    (finding,) = check_bundle(path)
    assert (finding.code, finding.line) == (code, line)
    with pytest.raises(BundleError, match=code):
        read_bundle(path)


def test_missing_parts_are_found(tmp_path: Path) -> None:
    path = task(
        tmp_path, {"tests/test_outputs.py": None, "run-tests.sh": None, "solution.sh": None, "Dockerfile": None}
    )
    assert {f.code for f in check_bundle(path)} == {"tests-missing", "solution-missing", "image-missing"}


PASSED = "= short test summary info =\nPASSED tests/test_outputs.py::test_a\n"
OUTPUTS = [
    ("pytest", "=== 2 passed ===\n" + PASSED + "PASSED x::test_b\n=== 2 passed in 1s ===\n", 0, "1"),
    ("pytest", PASSED + "FAILED x::test_b - assert 0\n== 1 failed, 1 passed ==\n", 1, "0"),
    ("pytest", PASSED + "ERROR x::test_b\n", 1, "0"),
    ("pytest", PASSED + "XPASS x::test_b\n", 0, "0"),
    ("pytest", PASSED + "XFAIL x::test_b\nSKIPPED [1] x.py:3: no\n", 0, "1"),
    ("pytest", "= short test summary info =\nSKIPPED [1] x.py:3: no\n== 1 skipped ==\n", 0, "0"),
    ("pytest", "\x1b[32mPASSED\x1b[0m".join(PASSED.split("PASSED")).replace("\n", "\r\n"), 0, "1"),
    ("pytest", PASSED, 3, "1"),
    ("pytest", "== 3 passed in 0.1s ==\n", 0, "1"),
    ("pytest", "== 3 passed in 0.1s ==\n", 1, "0"),
    ("pytest", "== 1 failed, 3 passed in 0.1s ==\n", 0, "0"),
    ("pytest", "bash: pytest: command not found\n", 127, "0"),
    ("pytest", "", 0, "0"),
    ("swebench", "noise\nSWEBench results starts here\nPASSED\nSWEBench results ends here\n", 0, "1"),
    ("swebench", "SWEBench results starts here\nFAILED\nSWEBench results ends here\n", 0, "0"),
    ("swebench", "PASSED\n", 0, "0"),
    ("mlebench", PASSED, 0, "0"),
]


@pytest.mark.parametrize(("parser", "output", "status", "reward"), OUTPUTS)
def test_the_reward_is_what_the_parser_says(tmp_path: Path, parser: str, output: str, status: int, reward: str) -> None:
    """The script runs here on our own text, with its two directories moved."""
    tests, logs = tmp_path / "tests", tmp_path / "logs"
    tests.mkdir()
    (tests / "output").write_bytes(output.encode())
    (tests / "run-tests.sh").write_text(f"cat $TEST_DIR/output\nexit {status}\n")
    script = scripts.test_sh(parser).data.decode().replace("/tests", str(tests)).replace("/logs", str(logs))
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, timeout=30)
    assert (logs / "verifier/reward.txt").read_text() == f"{reward}\n"
    assert done.stdout == output.encode()


@given(st.sampled_from(["task.yaml", "docker-compose.yaml", "solution.yaml", "Dockerfile"]), st.binary(max_size=200))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_content_crashes_it(tmp_path: Path, path: str, data: bytes) -> None:
    root = task(tmp_path, {path: data, "solution.sh": None if path == "solution.yaml" else FILES["solution.sh"]})
    for finding in check_bundle(root):
        assert finding.message


def test_a_few_lines_of_yaml_do_not_become_gigabytes(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    bundle = read(tmp_path, {"task.yaml": YAML + "\n".join(lines) + "\n"})
    assert len(bundle.files["task.toml"].data) < 200_000
