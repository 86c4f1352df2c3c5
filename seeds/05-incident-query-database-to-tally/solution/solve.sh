#!/bin/bash
set -euo pipefail

# 1. rows of the query
(
mkdir -p "$(dirname /app/review/result.csv)"
python3 - /app/incident/events.db /app/review/result.csv <<'EOF'
import csv, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
found = connection.execute('SELECT * FROM "pages" WHERE "severity" = ? ORDER BY "minutes" DESC, "alert_id"', ('minor',))
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([[column[0] for column in found.description], *found])
EOF
)

# 2. distinct rows
(
mkdir -p "$(dirname /app/review/distinct.csv)"
python3 - /app/review/result.csv /app/review/distinct.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('service'), header.index('opened')
chosen = {}
for number, row in enumerate(rows):
    value = row[at].strip().casefold() or number
    if value not in chosen:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)

# 3. totals
(
mkdir -p "$(dirname /app/review/summary.json)"
python3 - /app/review/distinct.csv /app/review/summary.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['severity']
        totals[label] = totals.get(label, 0) + int(row['requests'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
