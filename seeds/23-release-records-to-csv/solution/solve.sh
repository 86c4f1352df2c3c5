#!/bin/bash
set -euo pipefail

# 1. records as CSV
(
mkdir -p "$(dirname /app/release/flat.csv)"
python3 - /app/build/artifacts.json /app/release/flat.csv <<'EOF'
import csv, json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    records = json.load(file)
columns = list(records[0])
rows = [['' if record[name] is None else record[name] for name in columns] for record in records]
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows(rows)
EOF
)
