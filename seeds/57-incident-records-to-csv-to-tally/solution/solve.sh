#!/bin/bash
set -euo pipefail

# 1. records as CSV
(
mkdir -p "$(dirname /app/review/converted.csv)"
python3 - /app/incident/alerts.json /app/review/converted.csv <<'EOF'
import csv, json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    records = json.load(file)
columns = list(records[0])
rows = [['' if record[name] is None else record[name] for name in columns] for record in records]
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
EOF
)

# 2. rows kept
(
mkdir -p "$(dirname /app/review/matching.csv)"
python3 - /app/review/converted.csv /app/review/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'minor'
kept = [row for row in rows if row['severity'].strip() in (wanted, '')]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 3. top rows
(
mkdir -p "$(dirname /app/review/ranking.csv)"
python3 - /app/review/matching.csv /app/review/ranking.csv <<'EOF'
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

# 4. totals
(
mkdir -p "$(dirname /app/review/summary.json)"
python3 - /app/review/ranking.csv /app/review/summary.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['severity'] or 'unknown'
        totals[label] = totals.get(label, 0) + int(row['requests'] or 0)
totals = {k: v for k, v in totals.items() if v >= 50}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
