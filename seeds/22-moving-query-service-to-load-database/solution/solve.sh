#!/bin/bash
set -euo pipefail

# 1. answer of the service
(
mkdir -p "$(dirname /app/moved/answer.csv)"
python3 /opt/library/serve.py >/dev/null 2>&1 &
service=$!
trap 'kill "$service"' EXIT
python3 - http://127.0.0.1:8515/tracks /app/moved/answer.csv <<'EOF'
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
records = ask(url)
columns = list(records[0])
rows = [['' if record[name] is None else record[name] for name in columns] for record in records]
with open(sys.argv[-1], "w", newline="", encoding="utf-8") as file:
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
EOF
)

# 2. distinct rows
(
mkdir -p "$(dirname /app/moved/unique.csv)"
python3 - /app/moved/answer.csv /app/moved/unique.csv <<'EOF'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    header, *rows = csv.reader(file)
at, date = header.index('medium'), header.index('aired')
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

# 3. loaded database
(
mkdir -p "$(dirname /app/moved/loaded.db)"
rm -f /app/moved/loaded.db
python3 - /app/moved/unique.csv /app/moved/loaded.db <<'EOF'
import csv, sqlite3, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    names, *rows = csv.reader(file)
kinds = ", ".join(f'"{name}" ' + ("INTEGER" if name in ['plays', 'seconds'] else "TEXT") for name in names)
marks = ", ".join("?" for name in names)
connection = sqlite3.connect(sys.argv[2])
connection.execute(f'CREATE TABLE "items" ({kinds})')
for row in rows:
    connection.execute(f'INSERT INTO "items" VALUES ({marks})', [cell or None for cell in row])
connection.commit()
EOF
)
