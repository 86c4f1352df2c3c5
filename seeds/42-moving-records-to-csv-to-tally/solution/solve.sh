#!/bin/bash
set -euo pipefail

# 1. records as CSV
(
mkdir -p "$(dirname /app/moved/converted.csv)"
python3 - /app/archive/tapes.json /app/moved/converted.csv <<'EOF'
import csv, json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    records = json.load(file)
columns = list(records[0])
rows = [['' if record[name] is None else record[name] for name in columns] for record in records]
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
EOF
)

# 2. top rows
(
mkdir -p "$(dirname /app/moved/ranking.csv)"
python3 - /app/moved/converted.csv /app/moved/ranking.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('plays')
rows.sort(key=lambda row: float(row[at] or 0))
rows = rows[:6]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 3. totals
(
mkdir -p "$(dirname /app/moved/totals.json)"
python3 - /app/moved/ranking.csv /app/moved/totals.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['medium'].lower() or 'unknown'
        totals[label] = totals.get(label, 0) + int(row['seconds'] or 0)
totals = {k: v for k, v in totals.items() if v >= 6119}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
