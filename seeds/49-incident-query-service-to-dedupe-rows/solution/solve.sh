#!/bin/bash
set -euo pipefail

# 1. answer of the service
(
mkdir -p "$(dirname /app/review/fetched.csv)"
python3 /opt/monitor/serve.py >/dev/null 2>&1 &
service=$!
trap 'kill "$service"' EXIT
python3 - http://127.0.0.1:8490/pages /app/review/fetched.csv <<'EOF'
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
records = ask(url)
columns = list(records[0])
rows = [['' if record[name] is None else record[name] for name in columns] for record in records]
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
EOF
)

# 2. top rows
(
mkdir -p "$(dirname /app/review/ranking.csv)"
python3 - /app/review/fetched.csv /app/review/ranking.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at = header.index('requests')
rows.sort(key=lambda row: (float(row[at] or 0), row[header.index('alert_id')]))
rows = rows[:6]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
EOF
)

# 3. distinct rows
(
mkdir -p "$(dirname /app/review/distinct.csv)"
python3 - /app/review/ranking.csv /app/review/distinct.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('service'), header.index('opened')
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
