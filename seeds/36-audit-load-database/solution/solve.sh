#!/bin/bash
set -euo pipefail

# 1. loaded database
(
mkdir -p "$(dirname /app/audit/collected.db)"
rm -f /app/audit/collected.db
python3 - /app/inventory/loans.csv /app/audit/collected.db <<'EOF'
import csv, sqlite3, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    names, *rows = csv.reader(file)
kinds = ", ".join(f'"{name}" ' + ("INTEGER" if name in ['price', 'hours'] else "TEXT") for name in names)
marks = ", ".join("?" for name in names)
connection = sqlite3.connect(sys.argv[2])
connection.execute(f'CREATE TABLE "items" ({kinds})')
for row in rows:
    connection.execute(f'INSERT INTO "items" VALUES ({marks})', [cell or None for cell in row])
connection.commit()
EOF
)
