#!/bin/bash
set -euo pipefail

# 1. totals
(
mkdir -p "$(dirname /app/audit/sums.json)"
python3 - /app/inventory/equipment.csv /app/audit/sums.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['supplier'].lower()
        totals[label] = totals.get(label, 0) + int(row['price'] or 0)
totals = {k: v for k, v in totals.items() if v >= 14700}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
