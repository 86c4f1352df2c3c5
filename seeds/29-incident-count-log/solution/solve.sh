#!/bin/bash
set -euo pipefail

# 1. counted lines
(
mkdir -p "$(dirname /app/review/counted.csv)"
python3 - /app/incident/pages.log /app/review/counted.csv <<'EOF'
import csv, shlex, sys
rows = {}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        event = dict(field.split("=", 1) for field in shlex.split(line))
        if event["level"] == 'info':
            row = rows.setdefault(event['alert_id'], [event['service'], 0, ""])
            row[1:] = row[1] + 1, event["time"]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow('alert_id,service,lines,latest'.split(","))
    out.writerows([key, *row] for key, row in rows.items())
EOF
)
