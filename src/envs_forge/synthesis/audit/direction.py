"""Did the task grow or shrink as its projection says? Four simple measures, each of which votes.

These see amount, not difficulty: a task of the same length can be much harder. So only a majority against the
projection is held against a candidate. Difficulty itself shows when it is measured.
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
from envs_forge.synthesis.audit.parts import files_of, parse_python, texts_of
from envs_forge.synthesis.bounded import bounded

SAME = 0.03
"""A measure that changed by less than this share is the same."""
DRIFT = 0.4
"""Mean log ratio up to which diversify keeps the scale (a factor of one and a half)."""
CLEAR, MOST_CLEAR = 0.15, 2
"""A log ratio beyond which a measure changed clearly, and how many more diversify may change one way than the other."""
_SENTENCE = re.compile(r"[.!?:;](?:\s|$)")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])\s", re.M)
_SHELL_CHECK = re.compile(r"(?:^|[;&|(]|\b(?:if|while|then|do|elif)\b)\s*!?\s*(?:\[\[?|test|grep|diff|cmp|jq)\s")


def measures(bundle: Bundle) -> Mapping[str, float]:
    """How much there is of constraints, commands, checks and systems."""
    return {
        "constraints": _constraints(bounded(bundle.instruction)),
        "commands": _commands(bundle),
        "checks": _checks(bundle),
        "systems": _systems(bundle),
    }


def wrong_direction(parent: Bundle, candidate: Bundle, projection: Projection) -> Iterator[Finding]:
    """A candidate whose measures go the other way than its projection."""
    before, after = measures(parent), measures(candidate)
    ratios = {name: log(max(after[name], 1) / max(before[name], 1)) for name in before}
    votes = sum((ratio > SAME) - (ratio < -SAME) for ratio in ratios.values())
    told = ", ".join(f"{name} {before[name]:g} → {after[name]:g}" for name in before)
    if projection is Projection.DIVERSIFY:
        drift = sum(ratios.values()) / len(ratios)
        ways = [(ratio > 0) - (ratio < 0) for ratio in ratios.values() if abs(ratio) > CLEAR]
        if abs(drift) > DRIFT or abs(sum(ways)) > MOST_CLEAR:
            way = "grew" if drift > 0 else "shrank"
            yield Finding(AuditCode.WRONG_DIRECTION, f"diversify keeps the scale, but the task {way}: {told}")
        return
    wanted = 1 if projection is Projection.INCREASE else -1
    if votes * wanted <= 0:
        text = "adds nothing on balance" if wanted > 0 else "takes nothing away on balance"
        yield Finding(AuditCode.WRONG_DIRECTION, f"{projection.value} was asked for, but this {text}: {told}")


def _constraints(text: str) -> float:
    """Sentences and list items."""
    return len(_SENTENCE.findall(text)) + len(_ITEM.findall(text))


def _commands(bundle: Bundle) -> float:
    """Lines of the solution that do something."""
    lines = [line.strip() for text in texts_of(bundle, Part.SOLUTION).values() for line in text.split("\n")]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def _checks(bundle: Bundle) -> float:
    """Assertions, comparisons of shell scripts, and entries of lists of checks in JSON."""
    return sum(_checks_in(path, text) for path, text in texts_of(bundle, Part.TESTS).items())


@lru_cache(maxsize=256)
def _checks_in(path: str, text: str) -> int:
    if path.endswith(".json"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return 0
        return len(value) if isinstance(value, list) and all(isinstance(item, Mapping) for item in value) else 0
    tree = parse_python(text) if path.endswith(".py") else None
    if tree is not None:
        return sum(isinstance(node, ast.Assert) or _is_assertion(node) for node in ast.walk(tree))
    return len(_SHELL_CHECK.findall(text))


def _is_assertion(node: ast.AST) -> bool:
    """`self.assertEqual(…)`, `check(…)`, `expect(…)`."""
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name.startswith("assert") or name in ("check", "expect")


def _systems(bundle: Bundle) -> float:
    """Lines of the Dockerfile, and programs among the files."""
    lines = [line for text in texts_of(bundle, Part.IMAGE).values() for line in text.split("\n") if line.strip()]
    programs = [path for path in files_of(bundle, Part.DATA) if path.endswith((".py", ".sh", ".js", ".c", ".go"))]
    return len(lines) + len(programs)
