#!/bin/bash
set -euo pipefail

# 1. top rows
(
mkdir -p "$(dirname /app/moved/ranking.csv)"
python3 - /app/archive/tapes.csv /app/moved/ranking.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('seconds')
rows.sort(key=lambda row: float(row[at] or 0))
last = float(rows[5][at] or 0)
rows = [row for row in rows if float(row[at] or 0) <= last]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
