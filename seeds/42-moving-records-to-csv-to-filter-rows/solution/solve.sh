#!/bin/bash
set -euo pipefail

# 1. records as CSV
(
mkdir -p "$(dirname /app/moved/flat.csv)"
python3 - /app/archive/tracks.json /app/moved/flat.csv <<'EOF'
import csv, json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    records = json.load(file)
columns = list(records[0])
rows = [['' if record[name] is None else record[name] for name in columns] for record in records]
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
EOF
)

# 2. rows kept
(
mkdir -p "$(dirname /app/moved/selected.csv)"
python3 - /app/moved/flat.csv /app/moved/selected.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'news'
kept = [row for row in rows if row['genre'] == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)
