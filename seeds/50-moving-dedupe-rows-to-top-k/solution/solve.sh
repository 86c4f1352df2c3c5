#!/bin/bash
set -euo pipefail

# 1. distinct rows
(
mkdir -p "$(dirname /app/moved/deduplicated.csv)"
python3 - /app/archive/programmes.csv /app/moved/deduplicated.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('medium'), header.index('aired')
chosen = {}
for number, row in enumerate(rows):
    value = row[at].casefold()
    if value not in chosen:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)

# 2. top rows
(
mkdir -p "$(dirname /app/moved/top.csv)"
python3 - /app/moved/deduplicated.csv /app/moved/top.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('plays')
rows.sort(key=lambda row: (-float(row[at]), row[header.index('tape_id')]))
rows = rows[:2]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
