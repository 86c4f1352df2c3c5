#!/bin/bash
set -euo pipefail

# 1. rows of the query
(
mkdir -p "$(dirname /app/moved/queried.csv)"
python3 - /app/archive/recordings.db /app/moved/queried.csv <<'EOF'
import csv, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
found = connection.execute('SELECT * FROM "tracks" WHERE ("editor" = ? OR "editor" IS NULL) ORDER BY "plays" DESC', ('brunner',))
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([[column[0] for column in found.description], *found])
EOF
)

# 2. top rows
(
mkdir -p "$(dirname /app/moved/top.csv)"
python3 - /app/moved/queried.csv /app/moved/top.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('seconds')
rows.sort(key=lambda row: (-float(row[at]), row[header.index('tape_id')]))
rows = rows[:6]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 3. distinct rows
(
mkdir -p "$(dirname /app/moved/deduplicated.csv)"
python3 - /app/moved/top.csv /app/moved/deduplicated.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('medium'), header.index('aired')
chosen = {}
for number, row in enumerate(rows):
    value = row[at].strip()
    if value not in chosen:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)

# 4. totals
(
mkdir -p "$(dirname /app/moved/summary.json)"
python3 - /app/moved/deduplicated.csv /app/moved/summary.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['editor']
        totals[label] = totals.get(label, 0) + int(row['plays'] or 0)
totals = {k: v for k, v in totals.items() if v >= 648}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
