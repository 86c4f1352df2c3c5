"""The page about the rules says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from envs_forge.bundle.codes import SCHEMA_CODES
from envs_forge.gold.lint.registry import RULES
from envs_forge.gold.lint.table import rules_table

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/verification-lint.md").read_text()


def test_the_table_is_that_of_the_registry() -> None:
    table = PAGE.split("lint.table -->\n")[1].split("<!-- end of rules -->")[0]
    assert table == rules_table(), "renew it with python -m envs_forge.gold.lint.table"


def test_the_page_names_every_code_of_the_schema_check() -> None:
    sources = (ROOT / "src/envs_forge/bundle").rglob("*.py")
    text = "\n".join(path.read_text() for path in sources if path.name not in ("support.py", "compose.py"))
    codes = set(re.findall(r'(?:code=|_finding\(|_fault\()"([a-z0-9-]+)"', text))
    named = set(re.findall(r"`([a-z0-9-]+)`", PAGE.split("## Schema check")[1].split("## Rules")[0]))
    assert named == codes == SCHEMA_CODES


def test_rules_are_worded_for_people() -> None:
    for rule in RULES.values():
        assert re.fullmatch(r"[a-z0-9-]+", rule.code)
        assert "\n" not in rule.summary + rule.fix
        assert rule.check.__doc__
