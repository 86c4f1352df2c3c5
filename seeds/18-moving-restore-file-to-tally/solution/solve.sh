#!/bin/bash
set -euo pipefail

# 1. restored file
(
mkdir -p "$(dirname /app/moved/rescued.csv)"
commits=($(git -C /app/archive/tracks log -F --author='Milo Petrov <' --diff-filter=AM --format=%H main -- recordings.csv))
git -C /app/archive/tracks show "${commits[0]}:"recordings.csv > /app/moved/rescued.csv
)

# 2. totals
(
mkdir -p "$(dirname /app/moved/sums.json)"
python3 - /app/moved/rescued.csv /app/moved/sums.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['editor']
        totals[label] = totals.get(label, 0) + int(row['seconds'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
