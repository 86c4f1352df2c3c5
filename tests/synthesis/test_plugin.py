from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from envs_forge.errors import InfrastructureError, InvariantError, UserError
from envs_forge.plan.model import ACTIONS, CandidateSkills
from envs_forge.synthesis import plugin
from envs_forge.synthesis.desk import Paying
from envs_forge.synthesis.generator import Assignment, Candidate, Feedback, Rejection, Repairing
from envs_forge.synthesis.plugin import PlugIn, held
from pipeline.fakes import bundle

LABEL = "the generator 'toy' (toys 1.0, toys:make)"
SEED = bundle("seed", "Do it.\n")
FIGURES = {"pass_rate": 0.5, "k": 1.0, "n": 2, "predicted": 0.5, "frontier_score": 1.0}
ASSIGNMENT = Assignment(slot=0, draw=0, seed_id="s", seed_hash="h", action=ACTIONS[0], recipe="forge", **FIGURES)
FEEDBACK = Feedback(stage="audit", code="x", evidence="", previous="000-p0-d0")
ALL = {str(action): CandidateSkills() for action in ACTIONS}


class Toy:
    """Answers with what it was made of, raises it where it is an exception."""

    name = "toy"

    def __init__(self, answer: Any = None, options: Any = ALL) -> None:
        self.answer, self.own = answer, options

    def options(self, bundle: Any) -> Any:
        return given(self.own)

    def generate(self, assignment: Any, parent: Any) -> Any:
        return given(self.answer)


class Mending(Toy):
    def repair(self, assignment: Any, parent: Any, feedback: Any) -> Any:
        return given(self.answer)


class Asking(Toy):
    desk: Any = None

    def attach(self, desk: Any) -> None:
        self.desk = desk

    def cancel(self) -> None:
        given(self.answer)


class MendingAndAsking(Mending, Asking):
    pass


def given(value: Any) -> Any:
    if isinstance(value, BaseException):
        raise value
    return value() if callable(value) else value


def refusal(step: Callable[[], object]) -> str:
    with pytest.raises(UserError) as caught:
        step()
    text = str(caught.value)
    assert text.startswith(LABEL)
    assert text.endswith("(tell its authors, or choose another --generator)")
    return text


def test_what_keeps_the_contract_passes_through() -> None:
    made = held(Toy(Candidate(bundle=SEED)), LABEL)
    assert made.name == "toy"
    assert made.options(SEED) == ALL
    assert made.generate(ASSIGNMENT, SEED) == Candidate(bundle=SEED)


@pytest.mark.parametrize("kind", [Toy, Mending, Asking, MendingAndAsking])
def test_it_is_what_the_package_made(kind: type[Toy]) -> None:
    made = held(kind(), LABEL)
    assert isinstance(made, Repairing) == issubclass(kind, Mending)
    assert isinstance(made, Paying) == issubclass(kind, Asking)


BAD_ANSWERS: list[tuple[Any, str]] = [
    (RuntimeError("boom"), r"failed in generate\(\): RuntimeError: boom \(test_plugin.py, line \d+\)"),
    (SystemExit(3), r"failed in generate\(\): SystemExit: 3"),
    (InvariantError("not ours"), r"failed in generate\(\): InvariantError: not ours"),
    (OSError(2, "no such file"), r"failed in generate\(\): FileNotFoundError: "),
    (lambda: Rejection.model_validate({}), r"failed in generate\(\): ValidationError: Rejection: code: Field required"),
    (None, r"gives None in generate\(\), neither a Candidate nor a Rejection"),
    ("a bundle", r"gives 'a bundle' in generate\(\), neither"),
    (SEED, r"gives a Bundle in generate\(\), neither"),
    (Rejection(code="x", prompt_tokens=-4), r"gives -4 for a number of tokens in generate\(\)"),
    (Candidate(bundle=SEED, completion_tokens=10**30), r"gives 1000000000\d+ for a number of tokens"),
    (Rejection(code=""), r"gives a Rejection without a code in generate\(\)"),
]


@pytest.mark.parametrize(("answer", "told"), BAD_ANSWERS, ids=range(len(BAD_ANSWERS)))
def test_whatever_it_does_instead_is_its_fault_and_named(answer: Any, told: str) -> None:
    made = held(Mending(answer), LABEL)
    assert isinstance(made, Repairing)
    for step, name in (
        (lambda: made.generate(ASSIGNMENT, SEED), "generate"),
        (lambda: made.repair(ASSIGNMENT, SEED, FEEDBACK), "repair"),
    ):
        with pytest.raises(UserError, match=told.replace("generate", name)):
            step()
        refusal(step)


@pytest.mark.parametrize("error", [UserError("none", fix="buy one"), InfrastructureError("down"), OSError(28, "full")])
def test_what_it_says_in_our_terms_and_a_full_disk_are_no_fault_of_it(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        held(Toy(error), LABEL).generate(ASSIGNMENT, SEED)
    assert caught.value is error


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (RuntimeError("boom"), "failed in options(): RuntimeError: boom"),
        (None, "gives None for its options"),
        ({}, "gives no option for "),
        ({**ALL, "harden": "no"}, "gives an option 'harden', which is none of the six actions"),
        ({**ALL, str(ACTIONS[0]): 5}, f"gives 5 for the option {ACTIONS[0]}"),
    ],
)
def test_options_are_for_the_six_actions(options: Any, told: str) -> None:
    made = held(Toy(options=options), LABEL)
    assert told in refusal(lambda: made.options(SEED))


class Nameless(Toy):
    name = None  # type: ignore[assignment]


class Odd(Toy):
    identity: Mapping[str, Any] = {"client": object()}


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        (None, "None has no options()"),
        (5, "5 has no options()"),
        (Nameless(), "has None for a name"),
        (Odd(), "gives no identity: TypeError"),
    ],
)
def test_what_is_no_generator_is_refused(inner: Any, told: str) -> None:
    assert told in refusal(lambda: held(inner, LABEL))


def test_a_desk_reaches_it_and_what_it_does_with_it_is_its_fault() -> None:
    inner = Asking()
    made = held(inner, LABEL)
    assert isinstance(made, Paying)
    desk: Any = object()
    made.attach(desk)
    assert inner.desk is desk
    inner.attach = None  # type: ignore[method-assign, assignment]
    assert "failed in attach()" in refusal(lambda: made.attach(desk))


@pytest.mark.parametrize("answer", [RuntimeError("boom"), SystemExit(1), lambda: threading.Event().wait(60)])
def test_neither_an_error_nor_a_hang_of_its_cancel_keeps_the_rest_from_cleaning_up(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin, "PATIENCE_S", 0.1)
    made = held(Asking(answer), LABEL)
    assert isinstance(made, Paying)
    made.cancel()


def test_a_call_that_hangs_is_left_behind_after_a_while_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "PATIENCE_S", 0.1)
    begun, never = threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        never.wait(60)

    made = held(Toy(hang), LABEL)
    assert isinstance(made, PlugIn)
    ends: list[BaseException] = []

    def ask() -> None:
        try:
            made.generate(ASSIGNMENT, SEED)
        except BaseException as error:
            ends.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    assert begun.wait(60)
    made.abandon()
    thread.join(60)
    assert [type(error) for error in ends] == [InfrastructureError]
    assert made.left_behind == f"{LABEL} did not stop within 0.1 s"
    made.abandon()  # no second wait
    with pytest.raises(InfrastructureError):
        made.generate(ASSIGNMENT, SEED)
    never.set()


def test_a_call_that_ends_in_time_is_waited_for() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> Candidate:
        begun.set()
        go_on.wait(60)
        return Candidate(bundle=SEED)

    made = held(Toy(slow), LABEL)
    assert isinstance(made, PlugIn)
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(made.generate(ASSIGNMENT, SEED)), daemon=True)
    thread.start()
    assert begun.wait(60)
    threading.Timer(0.1, go_on.set).start()
    made.abandon()
    thread.join(60)
    assert (found, made.left_behind) == ([Candidate(bundle=SEED)], "")
