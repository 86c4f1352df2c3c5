#!/bin/bash
set -euo pipefail

# 1. top rows
(
mkdir -p "$(dirname /app/moved/leading.csv)"
python3 - /app/archive/tracks.csv /app/moved/leading.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('seconds')
rows.sort(key=lambda row: (float(row[at]), row[header.index('tape_id')]))
rows = rows[:6]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 2. distinct rows
(
mkdir -p "$(dirname /app/moved/unique.csv)"
python3 - /app/moved/leading.csv /app/moved/unique.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('genre'), header.index('aired')
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

# 3. rows kept
(
mkdir -p "$(dirname /app/moved/selected.csv)"
python3 - /app/moved/unique.csv /app/moved/selected.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'drama'
kept = [row for row in rows if row['genre'] == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)
