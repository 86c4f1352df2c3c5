from pathlib import Path

from envs_forge.gold.order import STAGES
from envs_forge.gold.reasons import MEANINGS, Reason

PAGE = (Path(__file__).parents[2] / "docs" / "verification.md").read_text()


def test_every_reason_has_one_line_in_the_code_and_in_the_page():
    assert set(MEANINGS) == set(Reason)
    for reason, meaning in MEANINGS.items():
        assert PAGE.count(f"| `{reason}` | {meaning} |\n") == 1


def test_every_stage_is_explained_in_order():
    places = [PAGE.index(f". **{stage.name}**: ") for stage in STAGES]
    assert places == sorted(places)
