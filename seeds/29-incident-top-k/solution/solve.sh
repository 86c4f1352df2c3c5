#!/bin/bash
set -euo pipefail

# 1. top rows
(
mkdir -p "$(dirname /app/review/ranking.csv)"
python3 - /app/incident/pages.csv /app/review/ranking.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('minutes')
rows.sort(key=lambda row: -float(row[at]))
rows = rows[:3]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
