#!/bin/bash
set -euo pipefail

# 1. output of the script
(
mkdir -p "$(dirname /app/audit/kept.csv)"
bash /app/inventory/loans.sh 43 /app/inventory/equipment.csv > /app/audit/kept.csv
)

# 2. rows kept
(
mkdir -p "$(dirname /app/audit/matching.csv)"
python3 - /app/audit/kept.csv /app/audit/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'surgery'
kept = [row for row in rows if row['ward'] == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)
