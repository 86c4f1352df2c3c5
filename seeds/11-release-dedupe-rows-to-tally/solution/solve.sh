#!/bin/bash
set -euo pipefail

# 1. distinct rows
(
mkdir -p "$(dirname /app/release/deduplicated.csv)"
python3 - /app/build/artifacts.csv /app/release/deduplicated.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('owner'), header.index('built')
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
mkdir -p "$(dirname /app/release/summary.json)"
python3 - /app/release/deduplicated.csv /app/release/summary.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['component']
        totals[label] = totals.get(label, 0) + int(row['size_kb'] or 0)
totals = {k: v for k, v in totals.items() if v >= 10245}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
