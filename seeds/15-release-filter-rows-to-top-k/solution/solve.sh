#!/bin/bash
set -euo pipefail

# 1. rows kept
(
mkdir -p "$(dirname /app/release/selected.csv)"
python3 - /app/build/modules.csv /app/release/selected.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'Tools'
kept = [row for row in rows if row['owner'].casefold() == wanted.casefold()]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 2. top rows
(
mkdir -p "$(dirname /app/release/ranking.csv)"
python3 - /app/release/selected.csv /app/release/ranking.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('tests')
rows.sort(key=lambda row: float(row[at] or 0))
last = float(rows[3][at] or 0)
rows = [row for row in rows if float(row[at] or 0) <= last]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
