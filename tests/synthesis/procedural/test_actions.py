"""What each action does to a chain, without building anything."""

from __future__ import annotations

import pytest

from envs_forge.plan.model import ACTIONS, Action, CandidateSkills, Direction, Projection
from envs_forge.plan.skills import load_graph
from envs_forge.synthesis.procedural.actions import candidate_edits, child_of, options, ranked_edits
from envs_forge.synthesis.procedural.chain import fault_of, skills, weight
from envs_forge.synthesis.procedural.composition import Composition, Use
from envs_forge.synthesis.procedural.dice import Dice
from synthesis.procedural.grown import grown

PARENTS = list(grown(8))
SIGN = {Projection.INCREASE: 1, Projection.DIVERSIFY: 0, Projection.REDUCE: -1}


def action(text: str) -> Action:
    return next(known for known in ACTIONS if str(known) == text)


def chain(*words: str) -> tuple[Use, ...]:
    return tuple(Use(operation=w.split(":")[0], knobs=tuple(w.split(":")[1:])) for w in words)


def composition(*words: str) -> Composition:
    return Composition(scenario="incident", number=1, uses=chain(*words))


def phrases(text: str, *words: str) -> list[str]:
    return sorted(", ".join(edit.done) for edit in candidate_edits(chain(*words), action(text)))


@pytest.mark.parametrize("what", ACTIONS, ids=str)
def test_weight_moves_the_right_way_and_every_chain_is_valid(what: Action) -> None:
    applied = 0
    for parent in PARENTS:
        for edit in candidate_edits(parent.uses, what):
            assert fault_of(edit.uses) == ""
            change = weight(edit.uses) - weight(parent.uses)
            assert (change > 0) - (change < 0) == SIGN[what.projection], (parent.uses, edit)
            applied += 1
    assert applied > 30


def test_skills_of_each_action() -> None:
    graph = load_graph()
    for parent in PARENTS:
        own = skills(parent.uses)
        for edit in candidate_edits(parent.uses, action("increase/in_depth")):
            new = skills(edit.uses) - own
            assert own <= skills(edit.uses)
            assert all(node.startswith("constraint/") for node in new)
        for edit in candidate_edits(parent.uses, action("increase/in_breadth")):
            new = skills(edit.uses) - own
            assert own <= skills(edit.uses)
            assert any(node.startswith("operation/") and graph.nodes[node].adjacent & own for node in new)
        for edit in candidate_edits(parent.uses, action("diversify/in_depth")):
            assert skills(edit.uses) == own
        for edit in candidate_edits(parent.uses, action("diversify/in_breadth")):
            assert skills(edit.uses) - own
        for edit in candidate_edits(parent.uses, action("reduce/in_depth")):
            gone = own - skills(edit.uses)
            assert skills(edit.uses) <= own
            assert all(node.startswith("constraint/") for node in gone)


def test_options_say_what_every_edit_keeps_and_any_edit_may_add() -> None:
    for parent in PARENTS:
        found = options(parent)
        assert set(found) == {str(known) for known in ACTIONS}
        for known in ACTIONS:
            option, edits = found[str(known)], candidate_edits(parent.uses, known)
            if isinstance(option, str):
                assert not edits
                assert option
                assert "\n" not in option
                continue
            every = [skills(edit.uses) for edit in edits]
            assert set(option.required) == frozenset.intersection(*every)
            assert {*option.required, *option.optional} == frozenset.union(*every)


def test_named_edits() -> None:
    assert phrases("reduce/in_depth", "filter_rows:padding") == ["padding of filter_rows stripped"]
    assert phrases("reduce/in_breadth", "filter_rows:padding", "top_k") == ["filter_rows stripped", "top_k stripped"]
    assert phrases("reduce/in_depth", "filter_rows", "filter_rows") == ["filter_rows stripped"]
    assert "filter_rows and top_k exchanged" in phrases("diversify/in_depth", "filter_rows", "top_k")
    moved = "ignore_case of filter_rows exchanged for ignore_case of tally"
    assert moved in phrases("diversify/in_depth", "filter_rows:ignore_case", "tally")
    assert "filter_rows exchanged for top_k" in phrases("diversify/in_breadth", "filter_rows:blank_matches")
    assert "top_k put in" in phrases("increase/in_breadth", "filter_rows")
    assert "filter_rows put in" in phrases("increase/in_depth", "filter_rows")


def test_reduce_replaces_a_service_by_a_fixture_and_increase_brings_one() -> None:
    service = chain("query_service:key:nulls:pagination")
    edits = candidate_edits(service, action("reduce/in_breadth"))
    assert [edit.uses for edit in edits] == [chain("records_to_csv:nulls")]
    assert "service of query_service replaced by a fixture" in edits[0].done[0]
    bare = candidate_edits(chain("query_service"), action("reduce/in_breadth"))
    assert weight(bare[0].uses) == weight(chain("query_service")) - 1
    assert chain("query_service", "filter_rows") in [
        edit.uses for edit in candidate_edits(chain("filter_rows"), action("increase/in_breadth"))
    ]


def test_what_cannot_apply_is_ineligible_with_a_reason() -> None:
    found = options(composition("filter_rows"))
    assert found["reduce/in_depth"] == "no constraint is left to strip"
    assert "single step" in str(found["reduce/in_breadth"])
    assert isinstance(found["diversify/in_depth"], CandidateSkills)
    broken = composition("filter_rows").model_copy(update={"uses": chain("no_such")})
    assert set(options(broken).values()) == {"the composition cannot be made here: no operation 'no_such'"}


def test_reduce_in_depth_strips_all_but_what_the_plan_counts_on() -> None:
    uses = chain("filter_rows:ignore_case:padding", "top_k:blank_zero:ties")
    reduce = action("reduce/in_depth")

    def best(*optional: str) -> tuple[Use, ...]:
        return ranked_edits(uses, reduce, Dice(1), turn=0, required=(), optional=optional)[0].uses

    assert best() == chain("filter_rows", "top_k")
    assert best("constraint/ties", "constraint/padding") == chain("filter_rows:padding", "top_k:ties")
    everything = [f"constraint/{name}" for name in ("ties", "padding", "case-insensitive", "missing-values")]
    assert weight(best(*everything)) == weight(uses) - 1


def test_increase_in_depth_adds_two_constraints_where_they_fit() -> None:
    deep = action("increase/in_depth")
    edits = ranked_edits(chain("tally"), deep, Dice(2), turn=0, required=(), optional=("constraint/boundaries",))
    assert weight(edits[0].uses) == 3
    assert "minimum" in edits[0].uses[0].knobs
    full = chain("filter_rows:blank_matches:ignore_case")
    last = ranked_edits(full, deep, Dice(2), turn=0, required=(), optional=("constraint/padding",))[0]
    assert last.uses == chain("filter_rows:blank_matches:ignore_case:padding")


@pytest.mark.parametrize("text", ["increase/in_depth", "increase/in_breadth", "diversify/in_breadth"])
def test_several_optional_skills_at_once(text: str) -> None:
    parent = composition("filter_rows:padding", "top_k")
    option = options(parent)[text]
    assert isinstance(option, CandidateSkills)
    one_move = max(len(skills(e.uses) & {*option.optional}) for e in candidate_edits(parent.uses, action(text)))
    wanted = option.optional[: one_move + 1]
    best = ranked_edits(parent.uses, action(text), Dice(0), turn=0, required=option.required, optional=wanted)[0]
    change = weight(best.uses) - weight(parent.uses)
    assert (change > 0) == text.startswith("increase")
    covered = [len({*wanted} & skills(e.uses)) for e in candidate_edits(parent.uses, action(text))]
    assert len({*wanted} & skills(best.uses)) >= max(covered)


def test_turns_give_different_edits_until_all_are_used() -> None:
    uses, deep = chain("filter_rows:padding"), action("increase/in_depth")
    count = sum(edit.level == 0 for edit in candidate_edits(uses, deep))
    firsts = [ranked_edits(uses, deep, Dice(5), turn=t, required=(), optional=())[0].uses for t in range(count)]
    assert len({*firsts}) == count


def test_increase_and_reduce_keep_the_story_and_diversify_leaves_it() -> None:
    parent = composition("filter_rows:padding", "top_k")
    for known in ACTIONS:
        for edit in candidate_edits(parent.uses, known)[:3]:
            child = child_of(parent, edit, known, Dice(known, edit.done))
            same = known.projection is not Projection.DIVERSIFY
            assert (child.scenario == parent.scenario) == same
            assert (child.number == parent.number) == same
            assert child.digest != parent.digest
            assert child.size == parent.size


def test_directions_of_reduce_are_distinct() -> None:
    for parent in PARENTS:
        deep = {edit.uses for edit in candidate_edits(parent.uses, action("reduce/in_depth"))}
        broad = {edit.uses for edit in candidate_edits(parent.uses, action("reduce/in_breadth"))}
        if any(use.knobs for use in parent.uses):
            assert not deep & broad
    assert {Direction.IN_DEPTH, Direction.IN_BREADTH} == {known.direction for known in ACTIONS}
