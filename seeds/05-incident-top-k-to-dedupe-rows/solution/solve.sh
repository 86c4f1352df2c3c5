#!/bin/bash
set -euo pipefail

# 1. top rows
(
mkdir -p "$(dirname /app/review/leading.csv)"
python3 - /app/incident/alerts.csv /app/review/leading.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('requests')
rows.sort(key=lambda row: (float(row[at] or 0), row[header.index('alert_id')]))
rows = rows[:6]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 2. rows kept
(
mkdir -p "$(dirname /app/review/kept.csv)"
python3 - /app/review/leading.csv /app/review/kept.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'MINOR'
kept = [row for row in rows if row['severity'].casefold() in (wanted.casefold(), '')]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 3. distinct rows
(
mkdir -p "$(dirname /app/review/distinct.csv)"
python3 - /app/review/kept.csv /app/review/distinct.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('region'), header.index('opened')
chosen = {}
for number, row in enumerate(rows):
    value = row[at]
    if value not in chosen:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)
