#!/bin/bash
set -euo pipefail

# 1. records as CSV
(
mkdir -p "$(dirname /app/release/plain.csv)"
python3 - /app/build/components.json /app/release/plain.csv <<'EOF'
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
mkdir -p "$(dirname /app/release/matching.csv)"
python3 - /app/release/plain.csv /app/release/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'failed'
kept = [row for row in rows if row['status'].strip() == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 3. totals
(
mkdir -p "$(dirname /app/release/sums.json)"
python3 - /app/release/matching.csv /app/release/sums.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['status']
        totals[label] = totals.get(label, 0) + int(row['tests'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
