"""What a model is told of a rejection: the conversation that goes on after its own answer."""

from __future__ import annotations

from collections.abc import Sequence

from envs_forge.models.answer import Message
from envs_forge.models.wire import storable
from envs_forge.synthesis.generator import Feedback
from envs_forge.synthesis.llm.contract import PROMPTS
from envs_forge.synthesis.llm.envelope import write_envelope
from envs_forge.synthesis.llm.faults import AnswerFault

EVIDENCE_CHARS = 3000
ANSWER_CHARS = 60_000
"""A longer answer is not shown to the model again."""


def repair_messages(contract: Sequence[Message], feedback: Feedback, answer: str | None) -> tuple[Message, ...]:
    """The conversation of a repair.

    Args:
        contract: The conversation that the draw began with.
        feedback: Why the attempt before was rejected.
        answer: What the model wrote then, if it is kept.
    """
    text = PROMPTS.render(
        "repair",
        stage=feedback.stage,
        code=feedback.code,
        evidence=cut(feedback.evidence or "none", EVIDENCE_CHARS),
        cut=feedback.code in (AnswerFault.CUT, AnswerFault.TOO_LARGE),
    )
    previous = answer if answer is not None else write_envelope(feedback.bundle) if feedback.bundle is not None else ""
    text, previous = storable(text), storable(previous)
    ask = {"role": "user", "content": text}
    if not previous or len(previous) > ANSWER_CHARS or feedback.code == AnswerFault.CUT:
        *before, last = contract
        return (*before, {"role": "user", "content": f"{last['content']}\n\n{text}"})
    return (*contract, {"role": "assistant", "content": previous}, ask)


def cut(text: str, most: int) -> str:
    """A text of at most `most` characters and a mark, its middle left out."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
