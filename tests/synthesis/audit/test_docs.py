"""`docs/audit.md` has every code, each once."""

import re
from pathlib import Path

from envs_forge.synthesis.audit.model import AuditCode, Finding

DOCS = Path(__file__).parents[3] / "docs" / "audit.md"


def test_the_table_of_codes_is_whole():
    table = DOCS.read_text().split("## Codes")[1].split("##")[0]
    assert sorted(re.findall(r"^\| `([\w-]+)` \|", table, re.M)) == sorted(code.value for code in AuditCode)


def test_a_finding_is_a_line_for_people():
    assert str(Finding(AuditCode.CANARY, "it is there")) == "canary: it is there"
    assert str(Finding(AuditCode.PART_UNCHANGED, "as before", "D")) == "part-unchanged (D): as before"
