"""The table of rules for `docs/verification-lint.md`; `python -m envs_forge.gold.lint.table` prints it."""

from __future__ import annotations

from envs_forge.gold.lint import rules  # noqa: F401 - registers them
from envs_forge.gold.lint.registry import RULES


def rules_table() -> str:
    """A Markdown table of every rule, in the order of their codes."""
    lines = ["| code | severity | what it finds | fix |", "|---|---|---|---|"]
    for code in sorted(RULES):
        rule = RULES[code]
        cells = (f"`{code}`", rule.severity.value, rule.summary, rule.fix)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(rules_table(), end="")
