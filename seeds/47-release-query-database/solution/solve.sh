#!/bin/bash
set -euo pipefail

# 1. rows of the query
(
mkdir -p "$(dirname /app/release/selected.csv)"
python3 - /app/build/modules.db /app/release/selected.csv <<'EOF'
import csv, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
found = connection.execute('SELECT * FROM "artifacts" WHERE "owner" = ? COLLATE NOCASE ORDER BY "size_kb" DESC', ('Tools',))
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([[column[0] for column in found.description], *found])
EOF
)
