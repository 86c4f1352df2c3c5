"""Which actions a model can be given on a seed, and why not the others. Decided before anything is planned."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.bundle.compose import COMPOSE, compose_finding
from envs_forge.bundle.links import find_file
from envs_forge.bundle.model import Bundle
from envs_forge.config import WriterSettings
from envs_forge.plan.model import ACTIONS, CandidateSkills, Projection
from envs_forge.plan.skills import candidate_skills, load_graph
from envs_forge.synthesis.audit.parts import solution_commands
from envs_forge.synthesis.llm.contract import OVERHEAD, PROMPTS, seed_text
from envs_forge.synthesis.llm.seedview import view
from envs_forge.synthesis.llm.tokens import estimate_tokens

ASSIGNMENT_TOKENS = 1000
"""What is set aside for the assignment, a digest and its summary."""


def options(bundle: Bundle, own: tuple[str, ...], settings: WriterSettings) -> Mapping[str, CandidateSkills | str]:
    """For each action the skills of its candidate, or one line that says why it cannot apply."""
    reason = _unfit(bundle) or _too_long(bundle, settings)
    if reason:
        return {str(action): reason for action in ACTIONS}
    skills = candidate_skills(load_graph(), own)
    bare = _nothing_to_take_away(bundle, own)
    return {
        str(action): bare if bare and action.projection is Projection.REDUCE else skills[str(action)]
        for action in ACTIONS
    }


def _unfit(bundle: Bundle) -> str:
    if bundle.config.steps:
        return "a task of several steps, which no answer can hold"
    if bundle.config.environment.os != "linux":
        return f"a task for {bundle.config.environment.os}"
    compose = find_file(bundle.files, COMPOSE)
    found = compose_finding(COMPOSE, compose.data) if compose is not None else None
    return found.message if found is not None else ""


def _too_long(bundle: Bundle, settings: WriterSettings) -> str:
    seen = view(bundle, settings.seed_tokens)
    if not seen.whole:
        most = settings.seed_tokens
        return f"its instruction alone is longer than the {most} tokens that a seed may take (writer.seed_tokens)"
    fixed = estimate_tokens(PROMPTS.render("contract")) + estimate_tokens(seed_text(bundle, seen))
    tokens = fixed + ASSIGNMENT_TOKENS + 2 * OVERHEAD
    if tokens > settings.prompt_tokens:
        return f"its prompt would have about {tokens} tokens, more than {settings.prompt_tokens} (writer.prompt_tokens)"
    return ""


def _nothing_to_take_away(bundle: Bundle, own: tuple[str, ...]) -> str:
    constraints = [skill for skill in own if skill.startswith("constraint/")]
    operations = [skill for skill in own if skill.startswith("operation/")]
    if constraints or len(operations) > 1 or len(solution_commands(bundle)) != 1:
        return ""
    return "nothing is left to take away: the solution is a single command"
