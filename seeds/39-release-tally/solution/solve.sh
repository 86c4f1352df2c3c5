#!/bin/bash
set -euo pipefail

# 1. totals
(
mkdir -p "$(dirname /app/release/sums.json)"
python3 - /app/build/parts.csv /app/release/sums.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['status'] or 'unknown'
        totals[label] = totals.get(label, 0) + int(row['size_kb'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
