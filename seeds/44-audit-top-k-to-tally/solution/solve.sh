#!/bin/bash
set -euo pipefail

# 1. top rows
(
mkdir -p "$(dirname /app/audit/leading.csv)"
python3 - /app/inventory/loans.csv /app/audit/leading.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('hours')
rows.sort(key=lambda row: float(row[at]))
rows = rows[:4]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 2. totals
(
mkdir -p "$(dirname /app/audit/totals.json)"
python3 - /app/audit/leading.csv /app/audit/totals.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['supplier']
        totals[label] = totals.get(label, 0) + int(row['price'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
