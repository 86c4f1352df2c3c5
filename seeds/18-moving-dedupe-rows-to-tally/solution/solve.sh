#!/bin/bash
set -euo pipefail

# 1. distinct rows
(
mkdir -p "$(dirname /app/moved/distinct.csv)"
python3 - /app/archive/tapes.csv /app/moved/distinct.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('medium'), header.index('aired')
chosen = {}
for number, row in enumerate(rows):
    value = row[at] or number
    if value not in chosen:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)

# 2. totals
(
mkdir -p "$(dirname /app/moved/sums.json)"
python3 - /app/moved/distinct.csv /app/moved/sums.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['editor']
        totals[label] = totals.get(label, 0) + int(row['plays'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
