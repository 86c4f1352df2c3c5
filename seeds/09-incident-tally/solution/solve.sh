#!/bin/bash
set -euo pipefail

# 1. totals
(
mkdir -p "$(dirname /app/review/totals.json)"
python3 - /app/incident/pages.csv /app/review/totals.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['region'].lower() or 'unknown'
        totals[label] = totals.get(label, 0) + int(row['minutes'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
