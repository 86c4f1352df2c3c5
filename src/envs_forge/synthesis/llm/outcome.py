"""What came of an answer: a candidate, or a rejection with the code of its fault."""

from __future__ import annotations

import re

from envs_forge.bundle.model import Bundle
from envs_forge.models.answer import Answer, AnswerKind
from envs_forge.models.wire import storable
from envs_forge.plan.tagging import tag
from envs_forge.redaction import redact
from envs_forge.synthesis.generator import Candidate, Rejection
from envs_forge.synthesis.llm.contract import Contract
from envs_forge.synthesis.llm.faults import AnswerFault, Unreadable, unforeseen
from envs_forge.synthesis.llm.parsing import parse_answer
from envs_forge.synthesis.tagging import SkillSource, skills_of_bundle, texts_of

_DECLINES = re.compile(
    r"\s*(?:i(?:'|’)?m sorry|i am sorry|sorry,|as an ai)\b"
    r"|\s*i (?:cannot|can(?:'|’)t|won(?:'|’)t|will not|am (?:unable|not able))\b",
    re.IGNORECASE,
)

_REDACTED = re.compile(r"\[\w+ redacted\]")


def outcome(answer: Answer, parent: Bundle, asked: Contract) -> Candidate | Rejection:
    """Read an answer as hostile input: whatever it is, it ends in one of the two.

    Raises:
        Exception: The machine failed, see `unforeseen`.
    """
    tokens = {"prompt_tokens": answer.usage.prompt_tokens, "completion_tokens": answer.usage.completion_tokens}
    try:
        found = _read(answer, parent, asked)
    except Exception as error:
        fault = unforeseen(error)
        if fault is None:
            raise
        found = fault
    if isinstance(found, Unreadable):
        return Rejection(code=found.code.value, evidence=found.evidence, **tokens)
    return found.model_copy(update=tokens)


def _read(answer: Answer, parent: Bundle, asked: Contract) -> Candidate | Unreadable:
    fault = _of_kind(answer) or _secret(answer.text)
    parsed = fault if fault is not None else parse_answer(answer.text, parent)
    if isinstance(parsed, Unreadable):
        declined = parsed.code is AnswerFault.NO_FILES and _DECLINES.match(answer.text)
        return Unreadable(AnswerFault.REFUSED, parsed.evidence) if declined else parsed
    bundle, envelope = parsed
    detail = {
        "model": storable(answer.model),
        "meta": dict(envelope.meta),
        "notes": list(envelope.notes),
        "cut": list(asked.cut),
    }
    return Candidate(bundle=bundle, realised=realised(bundle), detail=detail)


def _of_kind(answer: Answer) -> Unreadable | None:
    if answer.kind is AnswerKind.REFUSED:
        return Unreadable(AnswerFault.REFUSED, answer.text[:500] or f"finish reason {answer.finish or 'unknown'}")
    if answer.kind is AnswerKind.CUT:
        used = answer.usage.completion_tokens
        spent = f"after {used} tokens" if used is not None else "by the limit on its length"
        thought = ", all of them reasoning" if answer.reasoning and not answer.text.strip() else ""
        return Unreadable(AnswerFault.CUT, f"the answer was cut {spent}{thought}")
    if answer.kind is AnswerKind.EMPTY or not answer.text.strip():
        hidden = f" but for {len(answer.reasoning)} characters of reasoning" if answer.reasoning else ""
        return Unreadable(AnswerFault.EMPTY, f"the answer is empty{hidden}")
    return None


def _secret(text: str) -> Unreadable | None:
    """A secret in the answer, or the mark of one that was taken out when the answer was recorded."""
    if redact(text) == text and not _REDACTED.search(text):
        return None
    return Unreadable(AnswerFault.SECRET, "the value of a secret variable of this machine stands in the answer")


def realised(bundle: Bundle) -> tuple[str, ...]:
    """Skills that a candidate exercises: those that its answer declares, and those that its texts show."""
    found = skills_of_bundle(bundle)
    seen = tag(texts_of(bundle)) if found.source is SkillSource.METADATA else ()
    return tuple(sorted({*found.skills, *seen}))
