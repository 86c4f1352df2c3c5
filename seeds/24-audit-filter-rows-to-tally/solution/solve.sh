#!/bin/bash
set -euo pipefail

# 1. rows kept
(
mkdir -p "$(dirname /app/audit/kept.csv)"
python3 - /app/inventory/loans.csv /app/audit/kept.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'good'
kept = [row for row in rows if row['condition'] == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 2. totals
(
mkdir -p "$(dirname /app/audit/totals.json)"
python3 - /app/audit/kept.csv /app/audit/totals.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['supplier']
        totals[label] = totals.get(label, 0) + int(row['hours'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
