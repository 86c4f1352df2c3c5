#!/bin/bash
set -euo pipefail

# 1. records as CSV
(
mkdir -p "$(dirname /app/release/converted.csv)"
python3 - /app/build/packages.json /app/release/converted.csv <<'EOF'
import csv, json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    records = json.load(file)
columns = list(records[0])
rows = [['' if record[name] is None else record[name] for name in columns] for record in records]
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
EOF
)

# 2. distinct rows
(
mkdir -p "$(dirname /app/release/deduplicated.csv)"
python3 - /app/release/converted.csv /app/release/deduplicated.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('owner'), header.index('built')
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
