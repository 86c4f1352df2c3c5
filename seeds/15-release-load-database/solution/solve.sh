#!/bin/bash
set -euo pipefail

# 1. loaded database
(
mkdir -p "$(dirname /app/release/collected.db)"
rm -f /app/release/collected.db
python3 - /app/build/parts.csv /app/release/collected.db <<'EOF'
import csv, sqlite3, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    names, *rows = csv.reader(file)
kinds = ", ".join(f'"{name}" ' + ("INTEGER" if name in ['tests', 'size_kb'] else "TEXT") for name in names)
marks = ", ".join("?" for name in names)
connection = sqlite3.connect(sys.argv[2])
connection.execute(f'CREATE TABLE "entries" ({kinds})')
for row in rows:
    connection.execute(f'INSERT INTO "entries" VALUES ({marks})', [cell or None for cell in row])
connection.commit()
EOF
)
