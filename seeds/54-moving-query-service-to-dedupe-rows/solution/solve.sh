#!/bin/bash
set -euo pipefail

# 1. answer of the service
(
mkdir -p "$(dirname /app/moved/fetched.csv)"
python3 /opt/catalogue/serve.py >/dev/null 2>&1 &
service=$!
trap 'kill "$service"' EXIT
python3 - http://127.0.0.1:8648/recordings /app/moved/fetched.csv <<'EOF'
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

# 2. distinct rows
(
mkdir -p "$(dirname /app/moved/unique.csv)"
python3 - /app/moved/fetched.csv /app/moved/unique.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('medium'), header.index('aired')
chosen = {}
for number, row in enumerate(rows):
    value = row[at].strip().casefold()
    if value not in chosen:
        chosen[value] = number
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(header)
    out.writerows(rows[number] for number in sorted(chosen.values()))
EOF
)
