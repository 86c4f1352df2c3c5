#!/bin/bash
set -euo pipefail

# 1. repaired script
(
mkdir -p "$(dirname /app/audit/repaired.sh)"
cat > /app/audit/repaired.sh <<'EOF'
#!/bin/bash
# Usage: keep.sh LIMIT FILE
[ -r "$2" ] || exit 2
exec awk -F , -v limit="$1" 'NR == 1 || $6 + 0 >= limit + 0' < "$2"
EOF
chmod 755 /app/audit/repaired.sh
)

# 2. output of the script
(
mkdir -p "$(dirname /app/audit/kept.csv)"
bash /app/audit/repaired.sh 559 /app/inventory/devices.csv > /app/audit/kept.csv
)

# 3. distinct rows
(
mkdir -p "$(dirname /app/audit/distinct.csv)"
python3 - /app/audit/kept.csv /app/audit/distinct.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('supplier'), header.index('checked')
chosen = {}
for number, row in enumerate(rows):
    value = row[at].casefold()
    if value not in chosen or row[date] > rows[chosen[value]][date]:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)

# 4. top rows
(
mkdir -p "$(dirname /app/audit/top.csv)"
python3 - /app/audit/distinct.csv /app/audit/top.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('hours')
rows.sort(key=lambda row: (float(row[at]), row[header.index('asset_id')]))
rows = rows[:2]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)
