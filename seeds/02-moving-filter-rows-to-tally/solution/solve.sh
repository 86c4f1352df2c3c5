#!/bin/bash
set -euo pipefail

# 1. rows kept
(
mkdir -p "$(dirname /app/moved/matching.csv)"
python3 - /app/archive/tracks.csv /app/moved/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'vinyl'
kept = [row for row in rows if row['medium'].strip() == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 2. top rows
(
mkdir -p "$(dirname /app/moved/top.csv)"
python3 - /app/moved/matching.csv /app/moved/top.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('plays')
rows.sort(key=lambda row: float(row[at] or 0))
rows = rows[:3]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 3. totals
(
mkdir -p "$(dirname /app/moved/sums.json)"
python3 - /app/moved/top.csv /app/moved/sums.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['genre'] or 'unknown'
        totals[label] = totals.get(label, 0) + int(row['plays'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
