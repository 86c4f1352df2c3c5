"""Count the rows of a table by label, or add up a number by label, as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.document import Document
from envs_forge.synthesis.procedural.values.table import Table

SOLUTION = """\
mkdir -p "$(dirname {target})"
python3 - {source} {target} <<'EOF'
import csv, json, sys
totals = {{}}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = {label}
        totals[label] = totals.get(label, 0) + {amount}
{finish}with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
"""


class Tally(Operation):
    """table → document."""

    id = "tally"
    title = "totals"
    takes = Table
    gives = Document
    skills = ("domain/tables", "artifact/csv", "artifact/json", "operation/aggregate")
    stems = ("totals", "summary", "sums")
    slips = ("count", "largest")
    said = (
        "Add up `{number}` for every `{label}` in {source} and write the sums to {target} as one JSON object "
        "that maps each `{label}` to its sum.",
        "Group {source} by `{label}` and total the column `{number}`; {target} is to be a JSON object with one "
        "entry a group, name to total.",
        "Write {target}: a JSON object in which every `{label}` of {source} is a key and the sum of its "
        "`{number}` values is the number.",
    )
    knobs = (
        Knob(
            "ignore_case",
            "constraint/case-insensitive",
            (
                "Names of `{label}` that differ only in upper and lower case are one group, written in lower case.",
                "Group without regard to capitalisation and use lower-case keys.",
                "Treat `{label}` as case-insensitive; the keys of the object are in lower case.",
            ),
            features=("case",),
            slips=("upper",),
        ),
        Knob(
            "blank_label",
            "constraint/missing-values",
            (
                "Rows with an empty `{label}` go under the key `unknown`.",
                "Where `{label}` is blank, count the row as `unknown`.",
                "A missing `{label}` is to be called `unknown`.",
            ),
            features=("blank_label",),
            slips=("dropped",),
        ),
        Knob(
            "minimum",
            "constraint/boundaries",
            (
                "Leave out every group whose sum is below {least}.",
                "Only sums of at least {least} appear.",
                "Groups with less than {least} in total are omitted.",
            ),
            slips=("above",),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Table, knobs: Knobs) -> Params | None:
        """A label and a number column; the threshold is one of the sums, so that its own group stays."""
        labels, numbers = value.of_kind("label"), value.of_kind("number")
        if not labels or not numbers:
            return None
        params = {"label": dice.pick(labels), "number": dice.pick(numbers), "least": 0}
        if not (sums := sorted(self.sums(value, params, knobs - {"minimum"}).values())):
            return None
        return {**params, "least": sums[len(sums) // 2]}

    def apply(self, value: Table, params: Params, knobs: Knobs, slip: str = "") -> Document:
        """Sums by label."""
        sums = self.sums(value, params, knobs, slip)
        if "minimum" in knobs:
            least = params["least"] + (slip == "minimum:above")
            sums = {name: total for name, total in sums.items() if total >= least}
        return Document(sums)

    def sums(self, value: Table, params: Params, knobs: Knobs, slip: str = "") -> dict[str, int]:
        """Sums by label before any threshold."""
        sums: dict[str, int] = {}
        for label, number in zip(value.cells(params["label"]), value.cells(params["number"]), strict=True):
            if slip == "blank_label:dropped" and not label:
                continue
            name = label.lower() if "ignore_case" in knobs else label
            name = name.upper() if slip == "ignore_case:upper" else name
            name = "unknown" if not label and "blank_label" in knobs else name
            amount = int(number or 0)
            sums[name] = max(sums.get(name, 0), amount) if slip == "largest" else sums.get(name, 0) + amount
            if slip == "count":
                sums[name] += 1 - amount
        return sums

    def slots(self, params: Params) -> Mapping[str, str]:
        """Columns and threshold."""
        return {"label": params["label"], "number": params["number"], "least": str(params["least"])}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """A dictionary of sums."""
        label = f"row[{params['label']!r}]" + (".lower()" if "ignore_case" in knobs else "")
        label += " or 'unknown'" if "blank_label" in knobs else ""
        keep = f"totals = {{k: v for k, v in totals.items() if v >= {params['least']}}}\n"
        return SOLUTION.format(
            source=paths.source,
            target=paths.target,
            label=label,
            amount=f"int(row[{params['number']!r}] or 0)",
            finish=keep if "minimum" in knobs else "",
        )


OPERATION = Tally()
