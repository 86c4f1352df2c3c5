from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from envs_forge.config import make_config
from envs_forge.errors import UserError
from envs_forge.ledger.store import Ledger
from envs_forge.rollout.policy import PolicyIdentity
from envs_forge.run.directory import RunDirectory
from envs_forge.run.given import given
from envs_forge.run.journal import Journal
from pipeline.fakes import seeds

OWN = PolicyIdentity(kind="terminal", name="small", version="2", settings={"tools": "native", "sampling": {"top_p": 1}})
OWN_JSON = OWN.model_dump(mode="json")
ROWS = [{"id": "seed-0", "k": 1, "n": 4}]


def read(root: Path, name: str, content: Any, *, remeasure: int = 4) -> dict[str, Any]:
    """What a run of the policy `OWN` takes from a file."""
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    given_as = path.parent if path == RunDirectory(path.parent).pass_rates else path
    config = make_config({"pass_rates": str(given_as), "remeasure": remeasure}, where="test")
    with Ledger.open(root / "ledger.sqlite") as ledger:
        journal = Journal(ledger)
        journal.begin("synthesize", {}, {"policy": OWN_JSON})
        found = given(config, seeds(root / "pool", 1), journal)[0]
    return {rate.bundle_id: (rate.k, rate.n) for rate in found.values()}


OTHERS: list[tuple[dict[str, Any], str]] = [
    ({**OWN_JSON, "name": "large"}, "of the policy terminal large, --remeasure would run terminal small$"),
    ({"kind": "builtin", "name": "weak"}, "of the policy builtin weak, --remeasure would run terminal small$"),
    ({**OWN_JSON, "version": "1"}, r"would run terminal small in other settings \(version\)$"),
    (
        {**OWN_JSON, "settings": {"tools": "native", "sampling": {"top_p": 0.5}}},
        r"would run terminal small in other settings \(settings.sampling.top_p\)$",
    ),
]


@pytest.mark.parametrize("name", ["rates.json", "old/pass-rates.json"])
@pytest.mark.parametrize(("policy", "told"), OTHERS, ids=["name", "kind", "version", "settings"])
def test_rates_of_one_policy_are_not_set_beside_those_of_another(
    tmp_path: Path, name: str, policy: dict[str, Any], told: str
) -> None:
    content = {"schema_version": 1, "policy": policy, "pass_rates": ROWS}
    with pytest.raises(UserError) as caught:
        read(tmp_path, name, content)
    assert re.search(told, caught.value.message)
    assert caught.value.fix == "give the same policy with -m or --policy, or --remeasure 0"


def test_where_candidates_are_not_measured_the_rates_may_be_of_any_policy(tmp_path: Path) -> None:
    content = {"policy": {"kind": "builtin", "name": "weak"}, "pass_rates": ROWS}
    assert read(tmp_path, "rates.json", content, remeasure=0) == {"seed-0": (1, 4)}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rates.json", ROWS),
        ("rates.json", {"seed-0": {"k": 1, "n": 4}}),
        ("rates.json", {"pass_rates": ROWS}),
        ("rates.json", {"policy": "of my own", "pass_rates": ROWS}),
        ("rates.json", {"policy": OWN_JSON, "pass_rates": ROWS}),
        ("rates.json", {"policy": {"kind": "terminal", "name": "small"}, "pass_rates": ROWS}),
        ("rates.jsonl", json.dumps(ROWS[0])),
        ("rates.csv", "id,k,n\nseed-0,1,4\n"),
        ("old/pass-rates.json", {"policy": OWN_JSON, "pass_rates": ROWS}),
    ],
    ids=range(9),
)
def test_rates_of_the_same_policy_or_of_one_that_is_not_named_are_taken(
    tmp_path: Path, name: str, content: Any
) -> None:
    assert read(tmp_path, name, content) == {"seed-0": (1, 4)}


def test_a_plan_of_a_run_is_made_of_the_rates_of_its_policy(tmp_path: Path) -> None:
    old = RunDirectory(tmp_path / "old")
    old.root.mkdir()
    old.pass_rates.write_text(json.dumps({"policy": {**OWN_JSON, "name": "large"}, "pass_rates": ROWS}))
    config = make_config({"planned": str(old.root), "remeasure": 4}, where="test")
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        journal = Journal(ledger)
        journal.begin("synthesize", {}, {"policy": OWN_JSON})
        with pytest.raises(UserError, match="are of the policy terminal large"):
            given(config, seeds(tmp_path / "pool", 1), journal)
