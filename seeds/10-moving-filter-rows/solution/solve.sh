#!/bin/bash
set -euo pipefail

# 1. rows kept
(
mkdir -p "$(dirname /app/moved/selected.csv)"
python3 - /app/archive/tapes.csv /app/moved/selected.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'disk'
kept = [row for row in rows if row['medium'].strip() == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)
