#!/bin/bash
set -euo pipefail

# 1. counted lines
(
mkdir -p "$(dirname /app/moved/occurrences.csv)"
python3 - /app/archive/programmes.log /app/moved/occurrences.csv <<'EOF'
import csv, shlex, sys
rows = {}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        event = dict(field.split("=", 1) for field in shlex.split(line))
        if event["level"] == 'error' and 'medium' in event:
            row = rows.setdefault(event['tape_id'], [event['medium'], 0, ""])
            row[1:] = row[1] + 1, event["time"]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow('tape_id,medium,lines,latest'.split(","))
    out.writerows([key, *row] for key, row in rows.items())
EOF
)

# 2. distinct rows
(
mkdir -p "$(dirname /app/moved/deduplicated.csv)"
python3 - /app/moved/occurrences.csv /app/moved/deduplicated.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('medium'), header.index('latest')
chosen = {}
for number, row in enumerate(rows):
    value = row[at].casefold()
    if value not in chosen:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)
