#!/bin/bash
set -euo pipefail

# 1. rows kept
(
mkdir -p "$(dirname /app/release/matching.csv)"
python3 - /app/build/parts.csv /app/release/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'skipped'
kept = [row for row in rows if row['status'].strip() == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)
