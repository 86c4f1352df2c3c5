"""Count the lines of one level in a log by what they are about."""

from __future__ import annotations

from collections.abc import Mapping

from envs_forge.synthesis.procedural.dice import Dice
from envs_forge.synthesis.procedural.operation import Knob, Knobs, Operation, Params, Paths
from envs_forge.synthesis.procedural.values.log import Event, Log
from envs_forge.synthesis.procedural.values.table import Row, Table

SOLUTION = """\
mkdir -p "$(dirname {target})"
python3 - {source} {target} <<'EOF'
import csv, shlex, sys
rows = {{}}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        event = dict(field.split("=", 1) for field in shlex.split(line))
        if {test}:
            row = rows.setdefault(event[{key!r}], [event[{label!r}], 0, ""])
            row[1:] = row[1] + 1, event["time"]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\\n")
    out.writerow({columns!r}.split(","))
    out.writerows([key, *row] for key, row in rows.items())
EOF
"""


class CountLog(Operation):
    """log → table."""

    id = "count_log"
    title = "counted lines"
    takes = Log
    gives = Table
    skills = ("domain/logs", "artifact/app-log", "artifact/csv", "operation/count-by")
    stems = ("counted", "log-summary", "occurrences")
    slips = ("anywhere", "earliest")
    said = (
        "Count the lines of the log {source} whose `level` is `{level}` by `{key}`: {target} is to be a CSV file with "
        "the header line `{columns}` and a row for every `{key}` that has such lines, in the order in which they first "
        "appear, where `lines` is their number and `latest` the `time` of the last of them.",
        "Summarise the log {source} and write a CSV table with the header line `{columns}` to {target}: one row for "
        "each `{key}` with at least one line whose `level` is `{level}`, placed by its first such line, with the "
        "number of such lines and the `time` of the last one.",
        "Write {target}, a comma-separated file that begins with the line `{columns}`, from the log {source}: each "
        "`{key}` with lines whose `level` equals `{level}` gets one row, in the order of its first such line, with "
        "their count and the `time` of the last of them.",
    )
    knobs = (
        Knob(
            "ignore_case",
            "constraint/case-insensitive",
            (
                "The `level` may be written in any capitalisation.",
                "Upper and lower case make no difference in the `level`.",
                "The `level` is case-insensitive.",
            ),
            features=("level_case",),
        ),
        Knob(
            "malformed",
            "constraint/malformed-lines",
            (
                "Lines that break off before `{label}` are damaged and do not count.",
                "Skip every line in which `{label}` is missing: it was cut off.",
                "Some lines were cut off and have no `{label}`; leave them out.",
            ),
            features=("cut_lines",),
            slips=("stop",),
        ),
        Knob(
            "minimum",
            "constraint/boundaries",
            (
                "Only lines from `{since}` onwards count, that moment included.",
                "Lines before `{since}` do not count, but one of exactly that time does.",
                "Start at `{since}`: whatever is earlier is left out, a line of that very moment is not.",
            ),
            slips=("above",),
            ambient=False,
        ),
        Knob(
            "crlf",
            "constraint/crlf",
            (
                "The log comes from Windows, so its lines end in CRLF, of which nothing may get into the table.",
                "Lines of the log end in a carriage return and a line feed; no value in the table contains either.",
                "Mind that the log has Windows line ends, which are no part of the last field.",
            ),
            features=("crlf",),
        ),
    )

    def draw(self, dice: Dice, value: Log, knobs: Knobs) -> Params | None:
        """The commonest level, and the time of one of its lines in the first half."""
        levels = [event.level.lower() for event in value.events]
        level = max(sorted(set(levels)), key=levels.count)
        times = [event.time for event in value.events if event.level == level and event.label is not None]
        if len(times) < 4:
            return None
        since = times[dice.between(1, len(times) // 2)]
        return {"level": level, "since": since, "key": value.key, "label": value.label}

    def apply(self, value: Log, params: Params, knobs: Knobs, slip: str = "") -> Table:
        """Lines by key."""
        groups: dict[str, list[Event]] = {}
        for event in value.events:
            if slip == "malformed:stop" and event.label is None:
                break
            if self._counts(event, params, knobs, slip):
                groups.setdefault(event.key, []).append(event)
        end = "\r" if value.newline == "\r\n" and "crlf" not in knobs else ""
        place = 0 if slip == "earliest" else -1
        rows: list[Row] = [
            (key, (group[0].label or "") + end, str(len(group)), group[place].time) for key, group in groups.items()
        ]
        return Table((value.key, value.label, "lines", "latest"), ("key", "label", "number", "date"), tuple(rows))

    def _counts(self, event: Event, params: Params, knobs: Knobs, slip: str) -> bool:
        level, message = event.level, event.message
        if "ignore_case" in knobs:
            level = level.lower()
        if "malformed" in knobs and event.label is None:
            return False
        early = event.time <= params["since"] if slip == "minimum:above" else event.time < params["since"]
        if "minimum" in knobs and early:
            return False
        return bool(level == params["level"] or (slip == "anywhere" and params["level"] in message))

    def slots(self, params: Params) -> Mapping[str, str]:
        """Level, names of fields, and the bound."""
        return {**params, "columns": f"{params['key']},{params['label']},lines,latest"}

    def solve(self, params: Params, knobs: Knobs, paths: Paths) -> str:
        """One pass over the lines."""
        tests = ['event["level"]' + (".lower()" if "ignore_case" in knobs else "") + f" == {params['level']!r}"]
        tests += [f"{params['label']!r} in event"] if "malformed" in knobs else []
        tests += [f'event["time"] >= {params["since"]!r}'] if "minimum" in knobs else []
        filled = {**self.slots(params), "test": " and ".join(tests)}
        return SOLUTION.format(source=paths.source, target=paths.target, **filled)


OPERATION = CountLog()
