#!/bin/bash
set -euo pipefail

# 1. top rows
(
mkdir -p "$(dirname /app/audit/top.csv)"
python3 - /app/inventory/devices.csv /app/audit/top.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('hours')
rows.sort(key=lambda row: (float(row[at] or 0), row[header.index('asset_id')]))
rows = rows[:6]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
