#!/bin/bash
set -euo pipefail

# 1. counted lines
(
mkdir -p "$(dirname /app/release/occurrences.csv)"
python3 - /app/build/packages.log /app/release/occurrences.csv <<'EOF'
import csv, shlex, sys
rows = {}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        event = dict(field.split("=", 1) for field in shlex.split(line))
        if event["level"].lower() == 'warn':
            row = rows.setdefault(event['build_id'], [event['owner'], 0, ""])
            row[1:] = row[1] + 1, event["time"]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow('build_id,owner,lines,latest'.split(","))
    out.writerows([key, *row] for key, row in rows.items())
EOF
)

# 2. top rows
(
mkdir -p "$(dirname /app/release/ranking.csv)"
python3 - /app/release/occurrences.csv /app/release/ranking.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('lines')
rows.sort(key=lambda row: -float(row[at]))
rows = rows[:2]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
