#!/bin/bash
set -euo pipefail

# 1. counted lines
(
mkdir -p "$(dirname /app/audit/log-summary.csv)"
python3 - /app/inventory/devices.log /app/audit/log-summary.csv <<'EOF'
import csv, shlex, sys
rows = {}
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        event = dict(field.split("=", 1) for field in shlex.split(line))
        if event["level"] == 'error' and 'supplier' in event and event["time"] >= '2025-04-20T03:59:01':
            row = rows.setdefault(event['asset_id'], [event['supplier'], 0, ""])
            row[1:] = row[1] + 1, event["time"]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow('asset_id,supplier,lines,latest'.split(","))
    out.writerows([key, *row] for key, row in rows.items())
EOF
)
