from __future__ import annotations

from pathlib import Path

import pytest

from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.reading import make_bundle, read_bundle
from envs_forge.config import WriterSettings
from envs_forge.plan.model import ACTIONS, Action, CandidateSkills, Direction, Projection
from envs_forge.synthesis.generator import Assignment, Feedback
from envs_forge.synthesis.llm.contract import PROMPTS, Contract, contract
from envs_forge.synthesis.llm.eligibility import options
from envs_forge.synthesis.llm.envelope import Envelope, read_envelope
from envs_forge.synthesis.llm.repair import repair_messages
from envs_forge.synthesis.llm.seedview import view
from envs_forge.synthesis.llm.strategies import TEMPLATES, skill_orders
from envs_forge.synthesis.llm.tokens import estimate_tokens

ROOT = Path(__file__).parents[3]
SKILLS = CandidateSkills(required=("operation/sort",), optional=("constraint/ties", "constraint/blanks"))


def seed(**files: str) -> Bundle:
    texts = {
        "instruction.md": "Sort the log.\n",
        "task.toml": "",
        "environment/Dockerfile": "FROM debian:12.11-slim\n",
        "solution/solve.sh": "sort a > b\nsort c > d\n",
        "tests/test.sh": "echo 0\n",
        **{name.replace("__", "/"): text for name, text in files.items()},
    }
    return make_bundle("seed", {path: BundleFile(data=text.encode()) for path, text in texts.items()})


def assignment(action: Action = ACTIONS[0], **more: object) -> Assignment:
    figures = {"pass_rate": 0.747, "k": 6, "n": 8, "predicted": 0.497, "frontier_score": 1.0}
    told = {"slot": 3, "draw": 0, "seed_id": "seed", "seed_hash": "h", "recipe": "forge", **figures, **more}
    return Assignment.model_validate({"action": action, **told})


def asked(own: Assignment | None = None, bundle: Bundle | None = None) -> Contract:
    return contract(own or assignment(), bundle or seed(), own=("operation/sort",), option=SKILLS)


def text(found: Contract) -> str:
    return "\n".join(message["content"] for message in found.messages)


def test_the_first_message_is_the_same_whatever_is_asked() -> None:
    first = {
        asked(assignment(action, recipe=recipe, slot=slot), seed(tests__x=str(slot))).messages[0]["content"]
        for slot, action in enumerate(ACTIONS)
        for recipe in TEMPLATES
    }
    assert len(first) == 1


def test_calls_on_one_seed_share_everything_before_the_assignment() -> None:
    starts = {text(asked(assignment(action))).split("# The assignment")[0] for action in ACTIONS}
    assert len(starts) == 1


def test_the_assignment_says_all_that_the_plan_decided() -> None:
    told = text(asked(assignment(required=("operation/sort",), optional=("constraint/ties",), digest='1 x "late"')))
    for part in (
        "6 of 8 tries (pass rate 0.75)",
        "about 0.50",
        "Projection increase:",
        "Direction in_depth:",
        "the instruction, the data under environment/, the solution, the tests.",
        "May change: the image (Dockerfile).",
        "Skills to preserve, visible in the instruction and in the tests: operation/sort.",
        "Skills to add; the tests must observe each: constraint/ties.",
        "Skills that may come in: constraint/blanks.",
        '1 x "late"',
    ):
        assert part in told


def test_reduce_must_change_all_five_and_says_what_may_go() -> None:
    action = Action(projection=Projection.REDUCE, direction=Direction.IN_DEPTH)
    option = CandidateSkills(required=(), optional=("constraint/ties",))
    told = text(contract(assignment(action), seed(), own=("constraint/ties",), option=option))
    assert "the image (Dockerfile)." in told
    assert "May change" not in told
    assert "Skills that may go: constraint/ties." in told


def test_recipes_differ_in_their_strategy_alone() -> None:
    told = {recipe: text(asked(assignment(recipe=recipe))).split("# The assignment")[1] for recipe in TEMPLATES}
    assert len(set(told.values())) == len(TEMPLATES)
    assert len({part.split("- Measured on")[1] for part in told.values()}) == 1
    deep, broad = (
        text(asked(assignment(Action(projection=Projection.INCREASE, direction=way), recipe="evol-instruct")))
        for way in Direction
    )
    assert "in depth: keep" in deep
    assert "in breadth: keep" in broad


def test_the_contract_states_its_rules_and_the_machine() -> None:
    told = PROMPTS.render("contract")
    for part in ("instruction alone", "tie-break", "on success and on failure", "reward.txt", "no current date"):
        assert part in told
    assert "have none" in told.split("network")[1]


def test_the_example_in_the_contract_can_be_read() -> None:
    example = PROMPTS.render("contract").split("beginning of a line:\n")[1].split("`KEEP` takes")[0]
    found = read_envelope(example)
    assert isinstance(found, Envelope)
    assert (set(found.files), found.keep) == ({"instruction.md"}, ("tests/check.py",))


def test_later_draws_are_told_to_differ() -> None:
    assert "try 3" in text(asked(assignment(draw=2)))
    assert "try" not in text(asked()).split("# The assignment")[1].replace("tries", "")


def test_a_seed_that_fits_is_shown_whole_and_others_are_cut_with_marks() -> None:
    bundle = seed(environment__data__long="\n".join(f"line {n}" for n in range(500)) + "\n", tests__a="x\n" * 2000)
    small = view(bundle, 800)
    assert set(small.cut) == {"environment/data/long", "tests/a"}
    assert small.whole
    assert small.tokens < 1000
    assert "lines, " in small.text
    assert "characters left out …]" in small.text
    assert "line 0\n" in small.text
    assert "line 499\n" in small.text
    whole = view(seed(), 800)
    assert (whole.cut, "left out" in whole.text) == ((), False)


def test_binary_files_and_many_files_are_named() -> None:
    files = {f"environment__data__f{n:03}": "x\n" for n in range(40)}
    bundle = seed(**files)
    bundle = make_bundle("x", {**bundle.files, "environment/data/z": BundleFile(data=b"\0" * 99)})
    found = view(bundle, 5000)
    assert "[not shown: environment/data/f0" in found.text
    assert "environment/data/z" in found.text
    assert view(bundle, 5000) == found


def test_one_endless_line_is_cut() -> None:
    found = view(seed(environment__data__long="x" * 100_000), 1000)
    assert found.tokens < 1500
    assert "characters left out …]" in found.text


@pytest.mark.parametrize("name", ["seeds/07-release-count-log-to-top-k", "examples/tasks/nginx-log-report"])
def test_prompts_of_real_tasks_keep_to_their_budget(name: str) -> None:
    found = asked(bundle=read_bundle(ROOT / name))
    assert found.tokens < 5200
    assert (found.shared_tokens + found.seed_tokens) / found.tokens > 0.6


def test_an_instruction_that_does_not_fit_makes_a_seed_ineligible_with_the_reason() -> None:
    found = options(
        seed(**{"instruction.md": "words " * 9000}),
        (),
        WriterSettings(),
    )
    assert set(map(type, found.values())) == {str}
    assert "writer.seed_tokens" in next(iter(map(str, found.values())))
    tight = options(seed(), (), WriterSettings(prompt_tokens=1000))
    assert "its prompt would have about" in str(tight["increase/in_depth"])


def test_nothing_is_taken_away_where_a_single_command_is_left() -> None:
    bundle = seed(solution__solve_sh="x", **{"solution/solve.sh": "#!/bin/bash\nset -e\nsort a > b\n"})
    bundle = make_bundle("x", {path: file for path, file in bundle.files.items() if path != "solution/solve_sh"})
    found = options(bundle, ("operation/sort",), WriterSettings())
    assert {action for action, own in found.items() if isinstance(own, str)} == {"reduce/in_depth", "reduce/in_breadth"}
    assert not [own for own in options(seed(), (), WriterSettings()).values() if isinstance(own, str)]


def test_skills_are_sorted_into_orders() -> None:
    option = CandidateSkills(required=("a",), optional=("b", "c", "d"))
    found = skill_orders(("a", "b", "e"), option, ("a",), ("b", "c"))
    assert (found.required, found.add, found.may_add, found.may_drop) == ("a, b", "c", "d", "e")


def test_every_skill_that_the_audit_asks_for_is_named() -> None:
    required = tuple(f"operation/{number:02d}" for number in range(30))
    assert skill_orders(required, CandidateSkills(), required, ()).required == ", ".join(required)
    assert "one to preserve that is missing here counts as lost" in PROMPTS.render("contract")


def feedback(**more: object) -> Feedback:
    return Feedback.model_validate(
        {"stage": "oracle", "code": "oracle-failed", "evidence": "E" * 9000, "previous": "x", "bundle": None, **more}
    )


def test_a_repair_goes_on_after_the_conversation_and_cuts_evidence() -> None:
    first = asked().messages
    found = repair_messages(first, feedback(), "my answer")
    assert found[:2] == first
    assert found[2] == {"role": "assistant", "content": "my answer"}
    assert "characters left out" in found[3]["content"]
    assert len(found[3]["content"]) < 4000


def test_a_cut_answer_is_not_shown_again() -> None:
    found = repair_messages(asked().messages, feedback(code="answer-cut"), "half of an answer")
    assert [message["role"] for message in found] == ["system", "user"]
    assert "too long" in found[1]["content"]


def test_without_the_answer_the_bundle_is_written_out() -> None:
    found = repair_messages(asked().messages, feedback(bundle=seed()), None)
    assert "@@ FILE solution/solve.sh" in found[2]["content"]


def test_the_estimate_grows_with_the_text_and_counts_what_is_not_latin() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("word " * 100) == 100
    assert estimate_tokens("1234567") == 7
    assert estimate_tokens("日本語") >= 3
