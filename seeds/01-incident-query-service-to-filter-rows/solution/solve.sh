#!/bin/bash
set -euo pipefail

# 1. answer of the service
(
mkdir -p "$(dirname /app/review/answer.csv)"
python3 /opt/pager/serve.py >/dev/null 2>&1 &
service=$!
trap 'kill "$service"' EXIT
python3 - http://127.0.0.1:8674/signals /app/review/answer.csv <<'EOF'
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
mkdir -p "$(dirname /app/review/kept.csv)"
python3 - /app/review/answer.csv /app/review/kept.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
    columns = list(rows[0])
wanted = 'billing'
kept = [row for row in rows if row['service'] == wanted]
with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
    out = csv.DictWriter(file, columns, lineterminator="\n")
    out.writeheader()
    out.writerows(kept)
EOF
)
