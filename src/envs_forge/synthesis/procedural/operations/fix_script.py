"""Repair a shell script, which is then run on files that nobody has seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envs_forge.bundle.model import BundleFile
from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Brief, Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.sources import table as source
from envs_forge.synthesis.procedural.values.script import Case, Script

BROKEN = """\
#!/bin/bash
# Usage: keep.sh LIMIT FILE
limit=$1
file=$2
{check}head -n 1 {file}
tail -n +2 {file} | while IFS= read -r line{more}; do
    number=$(printf '%s\\n' "$line" | cut -d , -f {field})
    if [[ "$number" > "$limit" ]]; then
        printf '%s\\n' "$line"
    fi
done
"""
SOLUTION = """\
mkdir -p "$(dirname {target})"
cat > {target} <<'EOF'
{repaired}EOF
{mode}"""
REPAIRED = """\
#!/bin/bash
# Usage: keep.sh LIMIT FILE
[ -r "$2" ] || exit 2
exec awk -F , -v limit="$1" 'NR == 1 || ${field} + 0 >= limit + 0' < "$2"
"""


class FixScript(Operation):
    """(own script with faults) → script."""

    id = "fix_script"
    title = "repaired script"
    takes = None
    gives = Script
    skills = ("domain/shell", "artifact/shell-script", "operation/fix-script")
    stems = ("keep", "repaired", "working")
    slips = ("strict", "unrepaired")
    said = (
        "The script `{program}`, called with a limit and a CSV file, is to print the header line and every line "
        "of the file, unchanged, whose number in field {field} is at least the limit, but it compares wrongly; write "
        "a repaired copy to {target}.",
        "Repair the script `{program}` and save it as {target}: called with a limit and a CSV file, it must print the "
        "header line and, unchanged, those lines in which the number in field {field} is not below the limit, but its "
        "comparison is wrong.",
        "{target} must be a corrected version of the script `{program}`, which gets a limit and a CSV file and should "
        "print the header line and, as it is, each line with a number of at least the limit in field {field}, but "
        "compares the wrong way.",
    )
    knobs = (
        Knob(
            "spaces",
            "constraint/word-splitting",
            (
                "It must also work when the name of the file contains spaces.",
                "File names with spaces break it too, which has to be fixed.",
                "Make it cope with spaces in the name of the file.",
            ),
            ambient=False,
        ),
        Knob(
            "exit_status",
            "constraint/exit-codes",
            (
                "When the file does not exist, it must end with exit status {status}.",
                "It has to exit with status {status} if there is no such file.",
                "A missing file must make it end with the exit code {status}.",
            ),
            slips=("one",),
            ambient=False,
        ),
        Knob(
            "last_line",
            "constraint/final-newline",
            (
                "The last line of the file counts even when no newline ends it.",
                "It loses a last line without a newline, and must not.",
                "Files whose last line has no newline are to be read to the end.",
            ),
            ambient=False,
        ),
        Knob(
            "executable",
            "constraint/executable-bit",
            (
                "Make it executable.",
                "Its run bit must be set.",
                "It will be started by its path, so set its executable bit.",
            ),
            ambient=False,
        ),
    )

    def draw(self, dice: Dice, value: Brief, knobs: Knobs) -> Params | None:
        """Files to call it with, some of which show one fault each."""
        field = dice.pick((5, 6))
        cases = [self._case(dice.fork(i), value, field, "rows.csv") for i in range(2)]
        if "spaces" in knobs:
            cases.append(self._case(dice.fork("spaces"), value, field, "all rows.csv"))
        if "last_line" in knobs:
            cases.append(self._case(dice.fork("last"), value, field, "cut.csv", cut=True))
        if "exit_status" in knobs:
            cases.append(Case(("1", "none.csv"), {}, status=True))
        folder = dice.pick(value.vocabulary.services)
        sample = source.make(dice.fork("sample"), value.vocabulary, value.count, value.features)
        return {
            "program": f"/opt/{folder}/keep.sh",
            "field": field,
            "cases": tuple(cases),
            "faults": knobs,
            "sample": sample.with_rows(sample.rows),
        }

    def _case(self, dice: Dice, value: Brief, field: int, name: str, *, cut: bool = False) -> Case:
        made = source.make(dice, value.vocabulary, 6, frozenset())
        lines = [",".join(row) for row in [made.columns, *made.rows]]
        numbers = [row[field - 1] for row in made.rows]
        limit = numbers[-1] if cut else dice.pick(numbers)
        return Case((limit, name), {name: "\n".join(lines) + ("" if cut else "\n")})

    def apply(self, value: Brief, params: Params, knobs: Knobs, slip: str = "") -> Script:
        """What comes out of each call."""
        outcome: list[str] = []
        for number, case in enumerate(params["cases"], 1):
            if case.status:
                status = 1 if slip == "exit_status:one" else 2 if "exit_status" in knobs else 0
                outcome.append(f"{number} ends with {status}")
                continue
            outcome += [f"{number}: {line}" for line in self._printed(case, params, knobs, slip)]
        direct = "executable" in params["faults"]
        if direct and "executable" not in knobs:
            outcome = []
        text = REPAIRED.format(field=params["field"])
        return Script(text, params["cases"], tuple(outcome), params["field"], params["sample"], direct)

    def _printed(self, case: Case, params: Params, knobs: Knobs, slip: str) -> list[str]:
        limit, name = case.arguments
        if " " in name and "spaces" not in knobs:
            return []
        text = case.files[name]
        header, *lines = text.splitlines()
        if not text.endswith("\n") and "last_line" not in knobs:
            lines = lines[:-1]
        cells = [line.split(",")[params["field"] - 1] for line in lines]
        kept: dict[str, Any] = {
            "unrepaired": lambda cell: cell > limit,
            "strict": lambda cell: int(cell) > int(limit),
        }
        keep = kept.get(slip, lambda cell: int(cell) >= int(limit))
        return [header, *(line for line, cell in zip(lines, cells, strict=True) if keep(cell))]

    def slots(self, params: Params) -> Mapping[str, str]:
        """Program, field, exit status."""
        return {"program": params["program"], "field": str(params["field"]), "status": "2"}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """Write it anew, around awk."""
        mode = f"chmod 755 {paths.target}\n" if "executable" in knobs else ""
        return SOLUTION.format(target=paths.target, repaired=REPAIRED.format(field=params["field"]), mode=mode)

    def system(self, params: Params) -> Mapping[str, BundleFile]:
        """The script with its faults."""
        faults = params["faults"]
        text = BROKEN.format(
            check="" if "exit_status" in faults else '[ -r "$file" ] || exit 2\n',
            file="$file" if "spaces" in faults else '"$file"',
            more="" if "last_line" in faults else ' || [ -n "$line" ]',
            field=params["field"],
        )
        return {params["program"].removeprefix("/opt/"): BundleFile(data=text.encode())}


OPERATION = FixScript()
