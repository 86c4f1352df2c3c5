#!/bin/bash
set -euo pipefail

# 1. output of the script
(
mkdir -p "$(dirname /app/review/output.csv)"
bash /app/incident/signals.sh 9 /app/incident/outages.csv > /app/review/output.csv
)

# 2. distinct rows
(
mkdir -p "$(dirname /app/review/distinct.csv)"
python3 - /app/review/output.csv /app/review/distinct.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('region'), header.index('opened')
chosen = {}
for number, row in enumerate(rows):
    value = row[at] or number
    if value not in chosen or row[date] > rows[chosen[value]][date]:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)
