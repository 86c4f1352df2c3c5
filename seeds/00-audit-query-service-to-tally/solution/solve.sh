#!/bin/bash
set -euo pipefail

# 1. answer of the service
(
mkdir -p "$(dirname /app/audit/served.csv)"
python3 /opt/registry/serve.py >/dev/null 2>&1 &
service=$!
trap 'kill "$service"' EXIT
python3 - http://127.0.0.1:8725/devices /app/audit/served.csv <<'EOF'
import csv, json, sys, time
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin
from urllib.request import Request, urlopen
url = sys.argv[1]
def ask(address):
    for attempt in range(500):
        try:
            with urlopen(Request(address, headers={})) as answer:
                return json.load(answer)
        except HTTPError:
            raise
        except URLError:
            time.sleep(0.02)
    raise SystemExit("the service does not answer")
while not ask(urljoin(url, "/ready"))["ready"]:
    time.sleep(0.02)
records, number = [], 1
while page := ask(f"{url}?page={number}"):
    records += page
    number += 1
columns = list(records[0])
rows = [['' if record[name] is None else record[name] for name in columns] for record in records]
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
EOF
)

# 2. rows kept
(
mkdir -p "$(dirname /app/audit/matching.csv)"
python3 - /app/audit/served.csv /app/audit/matching.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'hansa'
kept = [row for row in rows if row['supplier'] in (wanted, '')]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)

# 3. top rows
(
mkdir -p "$(dirname /app/audit/top.csv)"
python3 - /app/audit/matching.csv /app/audit/top.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('price')
rows.sort(key=lambda row: (float(row[at] or 0), row[header.index('asset_id')]))
rows = rows[:4]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 4. totals
(
mkdir -p "$(dirname /app/audit/summary.json)"
python3 - /app/audit/top.csv /app/audit/summary.json <<'EOF'
import csv, json, sys
totals = {}
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        label = row['condition']
        totals[label] = totals.get(label, 0) + int(row['hours'] or 0)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(totals, file, ensure_ascii=False, indent=2)
EOF
)
