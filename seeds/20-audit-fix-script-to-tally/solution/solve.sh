#!/bin/bash
set -euo pipefail

# 1. repaired script
(
mkdir -p "$(dirname /app/audit/repaired.sh)"
cat > /app/audit/repaired.sh <<'EOF'
#!/bin/bash
# Usage: keep.sh LIMIT FILE
[ -r "$2" ] || exit 2
exec awk -F , -v limit="$1" 'NR == 1 || $5 + 0 >= limit + 0' < "$2"
EOF
)

# 2. output of the script
(
mkdir -p "$(dirname /app/audit/printed.csv)"
bash /app/audit/repaired.sh 73 /app/inventory/assets.csv > /app/audit/printed.csv
)

# 3. totals
(
mkdir -p "$(dirname /app/audit/totals.json)"
python3 - /app/audit/printed.csv /app/audit/totals.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['supplier']
        totals[label] = totals.get(label, 0) + int(row['hours'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
