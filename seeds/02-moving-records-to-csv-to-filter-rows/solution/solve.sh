#!/bin/bash
set -euo pipefail

# 1. records as CSV
(
mkdir -p "$(dirname /app/moved/converted.csv)"
python3 - /app/archive/shows.json /app/moved/converted.csv <<'EOF'
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
mkdir -p "$(dirname /app/moved/unique.csv)"
python3 - /app/moved/converted.csv /app/moved/unique.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('medium'), header.index('aired')
chosen = {}
for number, row in enumerate(rows):
    value = row[at].strip()
    if value not in chosen or row[date] > rows[chosen[value]][date]:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)

# 3. rows kept
(
mkdir -p "$(dirname /app/moved/kept.csv)"
python3 - /app/moved/unique.csv /app/moved/kept.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'disk'
kept = [row for row in rows if row['medium'].strip() == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)
