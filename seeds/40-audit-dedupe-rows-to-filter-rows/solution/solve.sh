#!/bin/bash
set -euo pipefail

# 1. distinct rows
(
mkdir -p "$(dirname /app/audit/deduplicated.csv)"
python3 - /app/inventory/inventory.csv /app/audit/deduplicated.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('supplier'), header.index('checked')
chosen = {}
for number, row in enumerate(rows):
    value = row[at]
    if value not in chosen or row[date] > rows[chosen[value]][date]:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)

# 2. rows kept
(
mkdir -p "$(dirname /app/audit/matching.csv)"
python3 - /app/audit/deduplicated.csv /app/audit/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'broken'
kept = [row for row in rows if row['condition'].strip() in (wanted, '')]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)
