#!/bin/bash
set -euo pipefail

# 1. top rows
(
mkdir -p "$(dirname /app/audit/ranking.csv)"
python3 - /app/inventory/loans.csv /app/audit/ranking.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('hours')
rows.sort(key=lambda row: -float(row[at]))
rows = rows[:5]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
