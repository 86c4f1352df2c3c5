from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from envs_forge.errors import UserError
from envs_forge.plan.skills import NodeType, build_graph, candidate_skills, load_graph


def row(id_: str, *adjacent: str, **more: object) -> dict[str, object]:
    return {"id": id_, "type": id_.partition("/")[0], "title": id_.upper(), "adjacent": list(adjacent), **more}


GRAPH = build_graph(
    [
        row("domain/d", "operation/a"),
        row("tool/t"),
        row("operation/a", "operation/b", "constraint/x"),
        row("operation/b"),
        row("operation/c", "operation/b"),
        row("constraint/x"),
        row("constraint/y", "operation/a"),
    ]
)


def test_adjacency_is_completed_both_ways() -> None:
    assert GRAPH.nodes["operation/b"].adjacent == {"operation/a", "operation/c"}
    for id_, node in GRAPH.nodes.items():
        assert all(id_ in GRAPH.nodes[near].adjacent for near in node.adjacent)


def test_neighbours_leave_out_their_own_and_other_types() -> None:
    assert GRAPH.neighbours(["operation/a", "operation/b"]) == {
        "domain/d", "constraint/x", "constraint/y", "operation/c",
    }  # fmt: skip
    assert GRAPH.neighbours(["operation/a"], NodeType.CONSTRAINT) == {"constraint/x", "constraint/y"}
    assert GRAPH.neighbours(["operation/none"]) == frozenset()
    assert GRAPH.unknown(["tool/t", "z", "tool/q", "z"]) == ("tool/q", "z")


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([row("tool/a", "tool/b")], "tool/a has an unknown neighbour tool/b"),
        ([row("tool/a"), row("tool/a")], "tool/a is there 2 times"),
        ([row("tool/a", "tool/a")], "tool/a is beside itself"),
        ([row("tool/a", type="artifact")], "tool/a does not begin with artifact/"),
        ([row("tool/a", type="toy")], "tool/a has type 'toy', not one of domain, tool"),
        ([row("tool/a", colour="red")], "tool/a has an unknown key colour"),
        ([{"type": "tool", "title": "A"}], "a node without an id"),
        ([{"id": "tool/a", "type": "tool"}], "tool/a has no title"),
        ([row("tool/a") | {"adjacent": "tool/b"}], "tool/a: adjacent is no list"),
    ],
)
def test_a_graph_that_breaks_a_rule_is_refused(rows: list[dict[str, object]], complaint: str) -> None:
    with pytest.raises(UserError) as caught:
        build_graph(rows, name="mine.toml")
    assert caught.value.message.startswith("mine.toml: ")
    assert complaint in caught.value.message


def test_all_findings_come_in_one_line() -> None:
    rows = [row("tool/a", "tool/b"), row("tool/c", "tool/c")]
    with pytest.raises(UserError) as caught:
        build_graph(rows)
    assert "tool/a has an unknown neighbour" in caught.value.message
    assert "tool/c is beside itself" in caught.value.message
    assert "\n" not in caught.value.message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the skill graph"):
        load_graph(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("[[node]\n")
    with pytest.raises(UserError, match=r"broken\.toml is not TOML"):
        load_graph(broken)
    good = tmp_path / "good.toml"
    good.write_text('[[node]]\nid = "tool/a"\ntype = "tool"\ntitle = "A"\n')
    assert list(load_graph(good).nodes) == ["tool/a"]


def test_the_package_graph_loads_and_is_sorted() -> None:
    graph = load_graph()
    assert load_graph() is graph
    for kind in NodeType:
        ids = graph.of_type(kind)
        assert list(ids) == sorted(ids)
        assert len(ids) >= 10
    order = [node.type for node in graph.nodes.values()]
    assert order == sorted(order, key=list(NodeType).index)
    text = resources.files("envs_forge.plan").joinpath("skills.toml").read_text("utf-8")
    for node in tomllib.loads(text)["node"]:
        assert node["adjacent"] == sorted(set(node["adjacent"])), node["id"]


def test_in_the_package_graph_nothing_stands_alone() -> None:
    graph = load_graph()
    assert not [id_ for id_, node in graph.nodes.items() if not node.adjacent]
    assert not [id_ for id_ in graph.of_type(NodeType.OPERATION) if not graph.neighbours([id_], NodeType.OPERATION)]


def test_candidates_by_the_definitions_of_the_directions() -> None:
    found = candidate_skills(GRAPH, ["domain/d", "tool/t", "operation/a", "constraint/x"])
    own = ("constraint/x", "domain/d", "operation/a", "tool/t")
    frame = ("domain/d", "tool/t")
    assert {name: (skills.required, skills.optional) for name, skills in found.items()} == {
        "increase/in_depth": (own, ("constraint/y",)),
        "increase/in_breadth": (own, ("operation/b",)),
        "diversify/in_depth": (own, ()),
        "diversify/in_breadth": (frame, ("operation/b",)),
        "reduce/in_depth": (("domain/d", "operation/a", "tool/t"), ("constraint/x",)),
        "reduce/in_breadth": (frame, ("operation/a", "operation/b")),
    }


def test_candidates_never_require_what_they_offer_and_keep_unknown_skills() -> None:
    graph = load_graph()
    for skills in (list(graph.nodes), list(graph.nodes)[::3], ["mine/own", "operation/join"], []):
        for candidate in candidate_skills(graph, skills).values():
            assert not set(candidate.required) & set(candidate.optional)
    assert "mine/own" in candidate_skills(graph, ["mine/own"])["reduce/in_breadth"].required
