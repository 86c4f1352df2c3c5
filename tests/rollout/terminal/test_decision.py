import json

import pytest

from envs_forge.models.answer import Answer, AnswerKind, ToolCall
from envs_forge.rollout.policies.terminal.decision import decide
from envs_forge.rollout.policies.terminal.output import shown

FENCE = "```bash\nls -l\n```"


def read(text="", *calls, native=False, kind=AnswerKind.ANSWER):
    decision = decide(Answer(kind=kind, text=text, calls=calls), native=native)
    return decision.outcome, [command.text for command in decision.commands], decision.done


def call(arguments, name="bash"):
    return ToolCall(id="1", name=name, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments))


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        (f"I look.\n{FENCE}\nThen I see.", ["ls -l"]),
        (f"{FENCE}\nand\n```sh\npwd\n```", ["ls -l", "pwd"]),
        ("```Bash  \nls\n\npwd\n```", ["ls\n\npwd"]),
        ("~~~shell\nls\n~~~", ["ls"]),
        ("1. do\n   ```bash\n   ls\n   ```", ["   ls"]),
        ("````bash\ncat > x <<'E'\n```bash\nrm -rf /\n```\nE\n````", ["cat > x <<'E'\n```bash\nrm -rf /\n```\nE"]),
        ("```python\nprint(1)\n```", []),
        ("```\nls\n```", ["ls"]),
        ("```\nls\n```\nshows\n```\nbin\n```", ["ls"]),
        ("```\nbin\n```\nThen\n```bash\nls\n```", ["ls"]),
        ("```bash\nls", []),
        ("```bash\n\n```", []),
        ("```bash -x y\nls\n```", []),
        ("````markdown\n```bash\nrm -rf /\n```\n````", []),
        ("<think>```bash\nrm -rf /\n```</think>\nhm", []),
        ("use ```bash ls``` for that", []),
        ("ls -l", []),
    ],
)
def test_blocks(text, commands):
    outcome, found, done = read(text)
    assert (found, done) == (commands, False)
    assert outcome == ("acted" if commands else "no-action")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("All is well.\nDONE", "done"),
        ("**DONE**\n\n", "done"),
        ("DONE.", "done"),
        ("GIVE UP", "gave-up"),
        ("I can not.\nGIVE UP: no network", "gave-up"),
        ("I am DONE", "no-action"),
        ("DONE\nbut wait", "no-action"),
        ("done", "no-action"),
        ("<think>DONE</think>\nhm", "no-action"),
    ],
)
def test_endings(text, outcome):
    assert read(text) == (outcome, [], outcome != "no-action")


def test_a_command_with_done_behind_it_is_the_last():
    assert read(f"{FENCE}\nDONE") == ("acted", ["ls -l"], True)
    assert read(f"{FENCE}\nGIVE UP") == ("acted", ["ls -l"], False)


@pytest.mark.parametrize("kind", [AnswerKind.CUT, AnswerKind.EMPTY, AnswerKind.REFUSED])
def test_only_whole_answers_are_acted_upon(kind):
    assert read(FENCE + "\nDONE", call({"command": "ls"}), native=True, kind=kind) == (kind.value, [], False)


def test_native_calls_and_blocks_where_there_is_no_call():
    assert read(FENCE, call({"command": "a"}), call({"command": "b"}), native=True)[1] == ["a", "b"]
    assert read(FENCE, native=True)[1] == ["ls -l"]
    assert read(FENCE, call({"command": "a"}), native=False)[1] == ["ls -l"]


@pytest.mark.parametrize(
    "bad",
    [
        call("{"),
        call("[" * 100_000),
        call("[]"),
        call({"cmd": "ls"}),
        call({"command": 3}),
        call({"command": " "}),
        call({}, "python"),
    ],
)
def test_calls_that_cannot_be_run(bad):
    decision = decide(Answer(kind=AnswerKind.ANSWER, calls=(bad,)), native=True)
    assert decision.outcome == "bad-call"
    assert decision.commands[0].fault
    mixed = decide(Answer(kind=AnswerKind.ANSWER, calls=(bad, call({"command": "ls"}))), native=True)
    assert (mixed.outcome, bool(mixed.commands[0].fault), mixed.commands[1].text) == ("acted", True, "ls")


def test_half_a_character_in_a_call_does_not_reach_the_shell():
    assert read("", call('{"command": "ls \\ud83d\\ude00 \\ud800"}'), native=True)[1] == ["ls 😀 \ufffd"]


def test_output_is_cut_in_the_middle():
    assert shown(b"a\xff\0b", 100) == "a\ufffd\ufffdb"
    assert shown(b"x" * 100, 100) == "x" * 100
    text = shown(b"head" + b"x" * 1000 + b"tail", 20)
    assert text.startswith("headxxxxxx\n[")
    assert text.endswith("]\nxxxxxxtail")
    assert "988 characters" in text
