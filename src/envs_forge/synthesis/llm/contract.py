"""The contract as a conversation: a prefix that all calls share, the seed, the assignment.

The order serves providers' prompt caches: what most calls have in common comes first. The first message is the same in
every call of a version, the seed's files the same for every action and draw on one seed, and a repair goes on after the
conversation that it repairs.
"""

from __future__ import annotations

from dataclasses import dataclass

from envs_forge.bundle.model import Bundle, Part
from envs_forge.models.answer import Message
from envs_forge.models.prompts import Prompts
from envs_forge.plan.model import Action, CandidateSkills
from envs_forge.synthesis.audit.mask import MUST_CHANGE, NAMES
from envs_forge.synthesis.generator import Assignment
from envs_forge.synthesis.llm.seedview import SeedView, limits_of, view
from envs_forge.synthesis.llm.strategies import TEMPLATES, action_texts, skill_orders
from envs_forge.synthesis.llm.tokens import estimate_tokens

PROMPTS = Prompts(__package__ or "envs_forge.synthesis.llm", version="2")
SEED_TOKENS = 3000
"""Budget of the seed's files."""
DIGEST_CHARS = 1000
"""Most characters of a failure digest."""
SUMMARY_CHARS = 450
"""Most characters of a summary before it."""
OVERHEAD = 8
"""Tokens that a chat template adds to each message, roughly."""


@dataclass(frozen=True)
class Contract:
    """The prompt of one assignment.

    Attributes:
        messages: The conversation to send.
        shared_tokens: Estimate of the part that all calls share.
        seed_tokens: Of the part that all calls on this seed share.
        tokens: Of the whole.
        cut: Files of the seed that are not shown whole.
    """

    messages: tuple[Message, ...]
    shared_tokens: int
    seed_tokens: int
    tokens: int
    cut: tuple[str, ...]


def contract(
    assignment: Assignment,
    parent: Bundle,
    *,
    own: tuple[str, ...],
    option: CandidateSkills,
    seed_tokens: int = SEED_TOKENS,
) -> Contract:
    """Write the prompt of an assignment.

    Args:
        assignment: What is to be made.
        parent: The seed.
        own: Skills of the seed.
        option: Skills that the action allows on it.
        seed_tokens: Budget of the seed's files.
    """
    seen = view(parent, seed_tokens)
    shared = PROMPTS.render("contract")
    seed = seed_text(parent, seen)
    order = assignment_text(assignment, own, option)
    messages = ({"role": "system", "content": shared}, {"role": "user", "content": f"{seed}\n\n{order}"})
    parts = [estimate_tokens(text) for text in (shared, seed, order)]
    return Contract(messages, parts[0], parts[1], sum(parts) + OVERHEAD * len(messages), seen.cut)


def seed_text(parent: Bundle, seen: SeedView) -> str:
    """The seed's part of the prompt."""
    return PROMPTS.render("seed", files=seen.text, cut=bool(seen.cut), limits=limits_of(parent))


def assignment_text(assignment: Assignment, own: tuple[str, ...], option: CandidateSkills) -> str:
    """The part of the prompt that differs from call to call."""
    action = assignment.action
    skills = skill_orders(own, option, assignment.required, assignment.optional)
    return PROMPTS.render(
        "assignment",
        strategy=PROMPTS.render(TEMPLATES.get(assignment.recipe, "forge"), direction=action.direction.value),
        k=f"{assignment.k:g}",
        n=f"{assignment.n:g}",
        pass_rate=f"{assignment.pass_rate:.2f}",
        predicted=f"{assignment.predicted:.2f}",
        must_change=", ".join(NAMES[part] for part in MUST_CHANGE[action.projection]),
        may_change=", ".join(NAMES[part] for part in _may_change(action)),
        required=skills.required,
        add=skills.add,
        may_add=skills.may_add,
        may_drop=skills.may_drop,
        digest=assignment.digest[: SUMMARY_CHARS + DIGEST_CHARS],
        variant=assignment.draw + 1 if assignment.draw else 0,
        **action_texts(action),
    )


def _may_change(action: Action) -> tuple[Part, ...]:
    return tuple(part for part in Part if part not in MUST_CHANGE[action.projection])
