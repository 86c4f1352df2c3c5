"""Episodes as tokens: nothing that was sampled is tokenised again, and what was shown is masked."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs_forge.errors import UserError
from envs_forge.train.grpo.tokens import ChatPieces, TokenTrack

from .tiny import tokenizer

TOKENS = tokenizer()
PIECES = ChatPieces(TOKENS)
OPENING = [{"role": "system", "content": "You work."}, {"role": "user", "content": "Do it."}]
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def played(turns: list[tuple[str, str]], *, cut: bool = False) -> tuple[TokenTrack, list[dict[str, str]]]:
    """An episode in which the model answers the first of each pair and is then shown the second."""
    track, talk = TokenTrack(PIECES), list(OPENING)
    for answer, shown in turns:
        track.show(talk)
        ids = TOKENS.encode(answer, add_special_tokens=False) + ([] if cut else [TOKENS.eos_token_id])
        track.sampled(ids, [-0.5] * len(ids), ended=not cut)
        talk += [{"role": "assistant", "content": answer}, {"role": "user", "content": shown}]
    track.show(talk)
    return track, talk


@settings(max_examples=60)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.booleans())
def test_the_pieces_are_the_whole_conversation(turns: list[tuple[str, str]], cut: bool) -> None:
    track, talk = played(turns, cut=cut)
    whole = TOKENS.apply_chat_template(talk, tokenize=False, add_generation_prompt=True)
    assert track.ids == TOKENS.encode(whole, add_special_tokens=False)
    assert len(track.completion_ids) == len(track.mask) == len(track.logprobs)


def test_only_what_the_model_said_is_trained_on() -> None:
    track, _ = played([("ls", "a.txt"), ("rm a.txt", "")])
    said = [id_ for id_, own in zip(track.completion_ids, track.mask, strict=True) if own]
    assert TOKENS.decode(said) == "ls<|im_end|>rm a.txt<|im_end|>"
    assert [value for value, own in zip(track.logprobs, track.mask, strict=True) if not own] == [
        0.0
    ] * track.mask.count(0)


def test_sampled_ids_stay_though_other_ids_give_the_same_text() -> None:
    track = TokenTrack(PIECES)
    track.show(OPENING)
    odd = TOKENS.encode("\u00e9", add_special_tokens=False)[:1]  # half a letter: no text gives it back
    track.sampled([*odd, TOKENS.eos_token_id], [0.0, 0.0], ended=True)
    track.show([*OPENING, {"role": "assistant", "content": TOKENS.decode(odd)}, {"role": "user", "content": "?"}])
    assert track.completion_ids[:2] == [*odd, TOKENS.eos_token_id]


def test_a_template_that_forgets_earlier_turns_is_refused() -> None:
    forgetful = tokenizer()
    forgetful.chat_template = (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
        "{% if m['role'] != 'assistant' or loop.last %}{{ m['content'] }}{% endif %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    with pytest.raises(UserError, match="rewrites earlier turns"):
        ChatPieces(forgetful)


def test_a_tokenizer_without_a_template_is_refused() -> None:
    bare = tokenizer()
    bare.chat_template = None
    with pytest.raises(UserError, match="no chat template"):
        ChatPieces(bare)
