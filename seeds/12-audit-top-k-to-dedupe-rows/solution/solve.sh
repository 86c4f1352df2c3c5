#!/bin/bash
set -euo pipefail

# 1. top rows
(
mkdir -p "$(dirname /app/audit/leading.csv)"
python3 - /app/inventory/inventory.csv /app/audit/leading.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('price')
rows.sort(key=lambda row: (float(row[at]), row[header.index('asset_id')]))
rows = rows[:3]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 2. distinct rows
(
mkdir -p "$(dirname /app/audit/unique.csv)"
python3 - /app/audit/leading.csv /app/audit/unique.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('supplier'), header.index('checked')
chosen = {}
for number, row in enumerate(rows):
    value = row[at]
    if value not in chosen:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)
