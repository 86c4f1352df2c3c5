"""Each scripted answer is what it claims to be, read and audited without a container."""

import pytest

from envs_forge.plan.model import CandidateSkills
from envs_forge.synthesis.audit.check import audit
from envs_forge.synthesis.llm.contract import contract
from envs_forge.synthesis.llm.faults import Unreadable
from envs_forge.synthesis.llm.parsing import parse_answer

from ..audit.children import assignment, corpus, seed
from .answers import BAD, BROKEN, KEY, SOUND
from .model import Mix, ScriptedModel
from .prompt import read_prompt

PARENT = seed(49)
ACTION = "increase/in_depth"


def body(parent=PARENT, action=ACTION, number=5, **asked):
    wanted = assignment(parent, action, required=("artifact/csv",)).model_copy(update=asked)
    made = contract(wanted, parent, own=("artifact/csv",), option=CandidateSkills(required=("artifact/csv",)))
    return {"messages": list(made.messages), "seed": number}


@pytest.fixture(scope="module")
def asked():
    return read_prompt(body(), [seed(3), PARENT])


def found(kind, asked):
    text = kind.make(asked)
    if text is None:
        pytest.skip("does not apply to this seed")
    if kind.finish == "length" or not text or KEY in text:
        return [next(iter(kind.outcomes))]
    parsed = parse_answer(text, PARENT)
    if isinstance(parsed, Unreadable):
        code = "answer-refused" if "sorry" in text else parsed.code.value
        return [f"synthesis/{code}"]
    findings = audit(PARENT, parsed[0], assignment(PARENT, ACTION, required=("artifact/csv",)), pool=corpus())
    return [f"audit/{finding.code}" for finding in findings]


@pytest.mark.parametrize("kind", SOUND, ids=lambda kind: kind.name)
def test_sound_answers_pass_in_every_form(kind, asked):
    assert found(kind, asked) == []


@pytest.mark.parametrize("kind", [*BAD, *BROKEN], ids=lambda kind: kind.name)
def test_bad_answers_get_one_of_their_codes_first_or_need_a_container(kind, asked):
    codes = found(kind, asked)
    static = not any(outcome.startswith(("oracle/", "untouched/")) for outcome in kind.outcomes)
    assert codes[0] in kind.outcomes if static else codes == []


def test_the_prompt_is_read(asked):
    assert (asked.parent.id, str(asked.assignment.action), asked.repair) == (PARENT.id, ACTION, False)
    assert (asked.assignment.required, asked.assignment.draw) == (("artifact/csv",), 0)
    assert read_prompt(body(draw=2), [PARENT]).assignment.draw == 2


def test_an_unknown_seed_is_an_error():
    with pytest.raises(LookupError):
        read_prompt(body(), [seed(3)])


def test_answers_follow_from_the_request_alone():
    def told(order):
        model = ScriptedModel([PARENT], mix=Mix(good=0.3, bad=0.3))
        replies = {number: model(body(number=number), 0) for number in order}
        return {number: (reply.status, reply.body) for number, reply in replies.items()}

    first, second = told([1, 2, 3, 4]), told([4, 3, 2, 1])
    assert {n: r[1]["choices"] if r[0] == 200 and r[1] else r for n, r in first.items()} == {
        n: r[1]["choices"] if r[0] == 200 and r[1] else r for n, r in second.items()
    }
