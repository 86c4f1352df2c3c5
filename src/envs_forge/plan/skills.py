"""The skill graph: what a task is made of and what lies beside it.

Nodes are typed `domain`, `tool`, `artifact`, `operation` or `constraint` and live in `skills.toml`, one readable file.
Adjacency is symmetric. A seed is tagged with nodes; *in_depth* stays with the seed's own chain of skills and the
constraints beside it, *in_breadth* goes to adjacent skills. `candidate_skills` derives from a seed's nodes what each of
the six actions must keep (required) and what it may add or drop (optional).
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from envs_forge.errors import UserError
from envs_forge.plan.model import ACTIONS, Action, CandidateSkills, Direction, Projection


class NodeType(StrEnum):
    """What kind of thing a skill is about."""

    DOMAIN = "domain"
    TOOL = "tool"
    ARTIFACT = "artifact"
    OPERATION = "operation"
    CONSTRAINT = "constraint"


@dataclass(frozen=True)
class SkillNode:
    """One skill. `adjacent` is complete: it holds the edges written at the other end too."""

    id: str
    type: NodeType
    title: str
    adjacent: frozenset[str]


@dataclass(frozen=True)
class SkillGraph:
    """All skills by id, in the order of the file."""

    nodes: Mapping[str, SkillNode]

    def of_type(self, kind: NodeType) -> tuple[str, ...]:
        """Ids of the nodes of one type, in the order of the file."""
        return tuple(id_ for id_, node in self.nodes.items() if node.type is kind)

    def neighbours(self, skills: Iterable[str], kind: NodeType | None = None) -> frozenset[str]:
        """Nodes beside any of `skills` and not among them, of one type if asked."""
        own = frozenset(skills)
        beside = {near for id_ in own if id_ in self.nodes for near in self.nodes[id_].adjacent} - own
        return frozenset(id_ for id_ in beside if kind is None or self.nodes[id_].type is kind)

    def unknown(self, skills: Iterable[str]) -> tuple[str, ...]:
        """Those of `skills` that the graph does not have, sorted."""
        return tuple(sorted({skill for skill in skills if skill not in self.nodes}))


def load_graph(path: Path | None = None) -> SkillGraph:
    """Read a skill graph; without a path the one of the package (read once).

    Raises:
        UserError: No such file, no TOML, or the graph breaks a rule: all findings in one line.
    """
    return _package_graph() if path is None else _read(path.name, _text(path))


@cache
def _package_graph() -> SkillGraph:
    return _read("skills.toml", resources.files("envs_forge.plan").joinpath("skills.toml").read_text("utf-8"))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the skill graph {path}: {error}") from error


def _read(name: str, text: str) -> SkillGraph:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name} is not TOML: {error}") from error
    return build_graph(table.get("node", []), name=name)


def build_graph(rows: Sequence[Mapping[str, Any]], *, name: str = "skill graph") -> SkillGraph:
    """Validate rows `{id, type, title, adjacent}` and complete the adjacency so that it is symmetric.

    Raises:
        UserError: A missing or malformed key, an id twice, an id that does not begin with its type, an unknown
            neighbour, or a node beside itself. All findings in one line.
    """
    ids = Counter(str(row.get("id", "")) for row in rows)
    faults = [fault for row in rows for fault in _faults(row, ids)]
    faults += [f"{id_} is there {count} times" for id_, count in ids.items() if count > 1]
    if faults:
        raise UserError(f"{name}: " + "; ".join(faults[:10]) + ("; …" if len(faults) > 10 else ""))
    adjacent: dict[str, set[str]] = {str(row["id"]): set() for row in rows}
    for row in rows:
        for near in row.get("adjacent", []):
            adjacent[row["id"]].add(near)
            adjacent[near].add(row["id"])
    nodes = {
        row["id"]: SkillNode(row["id"], NodeType(row["type"]), row["title"], frozenset(adjacent[row["id"]]))
        for row in rows
    }
    return SkillGraph(nodes)


def _faults(row: Mapping[str, Any], ids: Mapping[str, int]) -> Iterable[str]:
    id_ = row.get("id")
    if not isinstance(id_, str) or not id_:
        yield f"a node without an id: {dict(row)!r}"
        return
    kinds = [kind.value for kind in NodeType]
    if row.get("type") not in kinds:
        yield f"{id_} has type {row.get('type')!r}, not one of {', '.join(kinds)}"
    elif not id_.startswith(f"{row['type']}/"):
        yield f"{id_} does not begin with {row['type']}/"
    if not isinstance(row.get("title"), str):
        yield f"{id_} has no title"
    yield from (f"{id_} has an unknown key {key}" for key in row if key not in ("id", "type", "title", "adjacent"))
    near = row.get("adjacent", [])
    if not isinstance(near, list):
        yield f"{id_}: adjacent is no list"
        return
    yield from (f"{id_} has an unknown neighbour {other}" for other in near if other not in ids)
    if id_ in near:
        yield f"{id_} is beside itself"


def candidate_skills(graph: SkillGraph, skills: Iterable[str]) -> dict[str, CandidateSkills]:
    """Required and optional skills of the six candidates of a seed with these skills, keyed by `str(action)`.

    The *core* are the seed's nodes but its constraints, the *frame* those of the core that are no operation.

    | action | required | optional |
    |---|---|---|
    | increase/in_depth | all of the seed | constraints beside its operations |
    | increase/in_breadth | all of the seed | operations beside its operations |
    | diversify/in_depth | all of the seed | – |
    | diversify/in_breadth | its frame | operations beside its operations |
    | reduce/in_depth | its core | its constraints |
    | reduce/in_breadth | its frame | its operations and those beside them |

    Skills that the graph does not know are kept as required and have no neighbours.
    """
    own = frozenset(skills)
    return {str(action): _of_action(graph, own, action) for action in ACTIONS}


def _of_action(graph: SkillGraph, own: frozenset[str], action: Action) -> CandidateSkills:
    constraints = {skill for skill in own if skill.startswith("constraint/")}
    operations = {skill for skill in own if skill.startswith("operation/")}
    frame = own - constraints - operations
    beside = graph.neighbours(operations, NodeType.OPERATION)
    deep = action.direction is Direction.IN_DEPTH
    required, optional = {
        Projection.INCREASE: (own, graph.neighbours(operations, NodeType.CONSTRAINT) - own if deep else beside),
        Projection.DIVERSIFY: (own, frozenset()) if deep else (frame, beside),
        Projection.REDUCE: (own - constraints, constraints) if deep else (frame, operations | beside),
    }[action.projection]
    return CandidateSkills(required=tuple(sorted(required)), optional=tuple(sorted(optional)))
