#!/bin/bash
set -euo pipefail

# 1. top rows
(
mkdir -p "$(dirname /app/moved/leading.csv)"
python3 - /app/archive/programmes.csv /app/moved/leading.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('seconds')
rows.sort(key=lambda row: -float(row[at]))
last = float(rows[1][at])
rows = [row for row in rows if float(row[at]) >= last]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 2. rows kept
(
mkdir -p "$(dirname /app/moved/matching.csv)"
python3 - /app/moved/leading.csv /app/moved/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'brunner'
kept = [row for row in rows if row['editor'].strip() == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)
