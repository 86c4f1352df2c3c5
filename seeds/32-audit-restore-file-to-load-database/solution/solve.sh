#!/bin/bash
set -euo pipefail

# 1. restored file
(
mkdir -p "$(dirname /app/audit/recovered.csv)"
commits=($(git -C /app/inventory/devices log --diff-filter=AM --format=%H hotfix -- devices.csv))
git -C /app/inventory/devices show "${commits[0]}:"devices.csv > /app/audit/recovered.csv
)

# 2. distinct rows
(
mkdir -p "$(dirname /app/audit/distinct.csv)"
python3 - /app/audit/recovered.csv /app/audit/distinct.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('supplier'), header.index('checked')
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

# 3. loaded database
(
mkdir -p "$(dirname /app/audit/store.db)"
rm -f /app/audit/store.db
python3 - /app/audit/distinct.csv /app/audit/store.db <<'EOF'
import csv, sqlite3, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    names, *rows = csv.reader(file)
kinds = ", ".join(f'"{name}" ' + ("INTEGER" if name in ['hours', 'price'] else "TEXT") for name in names)
marks = ", ".join("?" for name in names)
connection = sqlite3.connect(sys.argv[2])
connection.execute(f'CREATE TABLE "entries" ({kinds})')
for row in rows:
    connection.execute(f'INSERT INTO "entries" VALUES ({marks})', [cell or None for cell in row])
connection.commit()
EOF
)
