#!/bin/bash
set -euo pipefail

# 1. restored file
(
mkdir -p "$(dirname /app/review/rescued.csv)"
commits=($(git -C /app/incident/signals log -F --author='Jonas Weber <' --diff-filter=AM --format=%H hotfix -- signals.csv))
git -C /app/incident/signals show "${commits[0]}:"signals.csv > /app/review/rescued.csv
)

# 2. top rows
(
mkdir -p "$(dirname /app/review/top.csv)"
python3 - /app/review/rescued.csv /app/review/top.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('requests')
rows.sort(key=lambda row: float(row[at] or 0))
last = float(rows[4][at] or 0)
rows = [row for row in rows if float(row[at] or 0) <= last]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
