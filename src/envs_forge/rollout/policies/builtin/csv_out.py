"""What two operations have in common for the policy: JSON records written as a CSV file."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.rollout.policies.builtin.way import Detail, Options

SLIPS: Mapping[str, Options] = {"sorted_columns": {"columns": "sorted"}, "sorted_rows": {"rows": "sorted"}}
NULLS = Detail(
    "nulls",
    frozenset({"null", "cells", "cell", "value"}),
    {"null": "n/a"},
    {"zero": {"null": "0"}},
)
HEADLESS = Detail("headless", frozenset({"header", "leave", "only", "names", "no"}), {"headless": True}, {})
CODE = """
names = {names}
{order}
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, names, lineterminator="\\n")
    {header}
    for record in records:
        out.writerow({{k: {null!r} if v is None else v for k, v in record.items()}})
"""


def rows_of(options: Options) -> str:
    """Python code that writes `records` to the last argument."""
    return CODE.format(
        names="sorted(records[0])" if options.get("columns") else "list(records[0])",
        order="records.sort(key=lambda r: str(next(iter(r.values()))))" if options.get("rows") else "",
        header="pass" if options.get("headless") else "out.writeheader()",
        null=options.get("null", ""),
    )
