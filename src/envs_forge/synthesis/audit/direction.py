"""Did the task grow or shrink as its projection says? Simple measures, each of which votes.

These see amount, not difficulty: a task of the same length can be much harder. They depend on the style of whoever
writes, too: one command of awk does what ten lines of Python do. So a candidate is held to have gone the wrong way only
where what the instruction asks for says so *and* the measures as a whole. Difficulty itself shows when it is measured.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import log

from envs_forge.bundle.model import Bundle, Part
from envs_forge.plan.model import Projection
from envs_forge.synthesis.audit.model import AuditCode, Finding
from envs_forge.synthesis.audit.parts import files_of, parse_python, solution_commands, texts_of
from envs_forge.synthesis.bounded import bounded

SAME = 0.03
"""A log ratio up to which a measure is the same."""
CLEAR = 0.25
"""A log ratio beyond which a measure changed clearly."""
FAR = 1.0
"""A log ratio of the constraints that no other measure has to confirm."""
FEW = 2
CONSTRAINTS, CHECKS = "constraints", "checks in "
_SENTENCE = re.compile(r"[.!?:;]\s|\n[ \t]*(?:[-*+]|\d+[.)])\s|\n\n")
_DEMAND = re.compile(
    r"[`\d]|\b(?:must|should|shall|only|exactly|each|every|all|no|not|without|never|unless|if|when|where|"
    r"at (?:least|most)|sort(?:ed)?|order|first|last|before|after|same|keep|leave|ignore|count|write)\b",
    re.I,
)
_SHELL_CHECK = re.compile(
    r"(?:^|[;&|(]|\b(?:if|while|then|do|elif)\b)[ \t]*(?:![ \t]*)?(?:\[\[?|test|grep|diff|cmp|jq)\s", re.M
)
_COPIED = re.compile(r"^[ \t]*(?:COPY|ADD|EXPOSE)\b", re.I | re.M)


def measures(bundle: Bundle) -> Mapping[str, float]:
    """How much there is of constraints, commands, checks by the way they are written, and systems."""
    return {
        CONSTRAINTS: _constraints(bounded(bundle.instruction)),
        "commands": len(solution_commands(bundle)),
        **{CHECKS + kind: count for kind, count in _checks(bundle).items()},
        "systems": _systems(bundle),
    }


def wrong_direction(parent: Bundle, candidate: Bundle, projection: Projection) -> Iterator[Finding]:
    """A candidate whose measures go the other way than its projection."""
    before, after = measures(parent), measures(candidate)
    both = [name for name in before if before[name] and after.get(name)]
    ratios = {name: log(after[name] / before[name]) for name in both}
    told = ", ".join(f"{name} {before[name]:g} → {after[name]:g}" for name in both)
    if projection is Projection.DIVERSIFY:
        drift = _drift(ratios, log((after[CONSTRAINTS] + FEW) / (before[CONSTRAINTS] + FEW)))
        if drift:
            way = "grew" if drift > 0 else "shrank"
            yield Finding(AuditCode.WRONG_DIRECTION, f"diversify keeps the scale, but the task {way}: {told}")
        return
    wanted = 1 if projection is Projection.INCREASE else -1
    if _votes(ratios, SAME) * wanted <= 0 and ratios.get(CONSTRAINTS, 0) * wanted <= SAME:
        text = "adds nothing on balance" if wanted > 0 else "takes nothing away on balance"
        yield Finding(AuditCode.WRONG_DIRECTION, f"{projection.value} was asked for, but this {text}: {told}")


def _votes(ratios: Mapping[str, float], least: float) -> int:
    return sum((ratio > least) - (ratio < -least) for ratio in ratios.values())


def _drift(ratios: Mapping[str, float], smoothed: float) -> int:
    """Which way a task left its scale: constraints and checks both clearly, or constraints beyond all bounds.

    `smoothed` is the log ratio of the constraints with a few added to both: from one to three is no great change.
    """
    asked = ratios.get(CONSTRAINTS, 0.0)
    checked = max((ratio for name, ratio in ratios.items() if name.startswith(CHECKS)), key=abs, default=0.0)
    way = (asked > 0) - (asked < 0)
    both = abs(asked) > CLEAR and checked * way > CLEAR
    against = any(ratio * way < -CLEAR for ratio in ratios.values())
    return way if (both or abs(smoothed) > FAR) and not against else 0


def _constraints(text: str) -> float:
    """Sentences and list items that ask for something; the story around them does not count."""
    return sum(1 for sentence in _SENTENCE.split(text) if _DEMAND.search(sentence))


def _checks(bundle: Bundle) -> Mapping[str, int]:
    """Assertions, comparisons of shell scripts, and entries of lists of checks in JSON; those that there are."""
    found: dict[str, int] = {}
    for path, text in texts_of(bundle, Part.TESTS).items():
        kind, count = _checks_in(path, text)
        found[kind] = found.get(kind, 0) + count
    return {kind: count for kind, count in found.items() if count}


@lru_cache(maxsize=256)
def _checks_in(path: str, text: str) -> tuple[str, int]:
    if path.endswith(".json"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return "JSON", 0
        listed = isinstance(value, list) and all(isinstance(item, Mapping) for item in value)
        return "JSON", len(value) if listed else 0
    tree = parse_python(text) if path.endswith(".py") else None
    if tree is not None:
        return "Python", sum(isinstance(node, ast.Assert) or _is_assertion(node) for node in ast.walk(tree))
    return "shell", len(_SHELL_CHECK.findall(text))


def _is_assertion(node: ast.AST) -> bool:
    """`self.assertEqual(…)`, `check(…)`, `expect(…)`."""
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name.startswith("assert") or name in ("check", "expect")


def _systems(bundle: Bundle) -> float:
    """What is copied into the image or opened, and programs among the files."""
    copied = sum(len(_COPIED.findall(text)) for text in texts_of(bundle, Part.IMAGE).values())
    programs = [path for path in files_of(bundle, Part.DATA) if path.endswith((".py", ".sh", ".js", ".c", ".go"))]
    return copied + len(programs)
