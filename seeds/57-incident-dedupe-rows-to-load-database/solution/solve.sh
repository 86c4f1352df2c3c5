#!/bin/bash
set -euo pipefail

# 1. distinct rows
(
mkdir -p "$(dirname /app/review/deduplicated.csv)"
python3 - /app/incident/alerts.csv /app/review/deduplicated.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('severity'), header.index('opened')
chosen = {}
for number, row in enumerate(rows):
    value = row[at]
    if value not in chosen or row[date] > rows[chosen[value]][date]:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)

# 2. rows kept
(
mkdir -p "$(dirname /app/review/matching.csv)"
python3 - /app/review/deduplicated.csv /app/review/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'east'
kept = [row for row in rows if row['region'].strip().casefold() in (wanted.casefold(), '')]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 3. top rows
(
mkdir -p "$(dirname /app/review/top.csv)"
python3 - /app/review/matching.csv /app/review/top.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('minutes')
rows.sort(key=lambda row: -float(row[at]))
last = float(rows[1][at])
rows = [row for row in rows if float(row[at]) >= last]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 4. loaded database
(
mkdir -p "$(dirname /app/review/loaded.db)"
rm -f /app/review/loaded.db
python3 - /app/review/top.csv /app/review/loaded.db <<'EOF'
import csv, sqlite3, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    names, *rows = csv.reader(file)
kinds = ", ".join(f'"{name}" ' + ("INTEGER" if name in ['minutes', 'requests'] else "TEXT") for name in names)
marks = ", ".join("?" for name in names)
connection = sqlite3.connect(sys.argv[2])
connection.execute(f'CREATE TABLE "imported" ({kinds})')
for row in rows:
    if row[names.index('severity')] != 'critical':
        continue
    connection.execute(f'INSERT INTO "imported" VALUES ({marks})', [cell or None for cell in row])
connection.commit()
EOF
)
