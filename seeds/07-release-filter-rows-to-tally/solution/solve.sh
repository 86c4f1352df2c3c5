#!/bin/bash
set -euo pipefail

# 1. rows kept
(
mkdir -p "$(dirname /app/release/matching.csv)"
python3 - /app/build/components.csv /app/release/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'PRINTER'
kept = [row for row in rows if row['component'].casefold() in (wanted.casefold(), '')]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 2. totals
(
mkdir -p "$(dirname /app/release/sums.json)"
python3 - /app/release/matching.csv /app/release/sums.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['status']
        totals[label] = totals.get(label, 0) + int(row['size_kb'] or 0)
totals = {k: v for k, v in totals.items() if v >= 1479}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
