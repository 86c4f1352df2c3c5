#!/bin/bash
set -euo pipefail

# 1. rows kept
(
mkdir -p "$(dirname /app/review/kept.csv)"
python3 - /app/incident/outages.csv /app/review/kept.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'EAST'
kept = [row for row in rows if row['region'].strip().casefold() == wanted.casefold()]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 2. top rows
(
mkdir -p "$(dirname /app/review/leading.csv)"
python3 - /app/review/kept.csv /app/review/leading.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('requests')
rows.sort(key=lambda row: -float(row[at]))
rows = rows[:2]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
