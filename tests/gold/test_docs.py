import re
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


def test_every_code_for_what_is_not_supported_is_a_reason():
    source = (Path(__file__).parents[2] / "src/envs_forge/bundle/support.py").read_text()
    codes = set(re.findall(r'_finding\("([a-z-]+)"', source))
    assert len(codes) > 10
    assert codes <= {reason.value for reason in Reason}
