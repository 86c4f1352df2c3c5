#!/bin/bash
set -euo pipefail

# 1. distinct rows
(
mkdir -p "$(dirname /app/moved/distinct.csv)"
python3 - /app/archive/shows.csv /app/moved/distinct.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('medium'), header.index('aired')
chosen = {}
for number, row in enumerate(rows):
    value = row[at].strip() or number
    if value not in chosen:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)

# 2. top rows
(
mkdir -p "$(dirname /app/moved/top.csv)"
python3 - /app/moved/distinct.csv /app/moved/top.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('seconds')
rows.sort(key=lambda row: float(row[at]))
rows = rows[:5]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 3. rows kept
(
mkdir -p "$(dirname /app/moved/selected.csv)"
python3 - /app/moved/top.csv /app/moved/selected.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'tape'
kept = [row for row in rows if row['medium'] in (wanted, '')]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 4. totals
(
mkdir -p "$(dirname /app/moved/summary.json)"
python3 - /app/moved/selected.csv /app/moved/summary.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['medium'] or 'unknown'
        totals[label] = totals.get(label, 0) + int(row['seconds'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
