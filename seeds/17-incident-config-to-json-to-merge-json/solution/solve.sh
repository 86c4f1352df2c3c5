#!/bin/bash
set -euo pipefail

# 1. settings as JSON
(
mkdir -p "$(dirname /app/review/exported.json)"
python3 - /app/incident/events.ini /app/review/exported.json <<'EOF'
import configparser, json, sys
parser = configparser.ConfigParser(interpolation=None, strict=False)
parser.optionxform = str
parser.read(sys.argv[1], encoding="utf-8")
data = {name: {key: value for key, value in parser[name].items()} for name in parser.sections()}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(data, file, indent=2)
EOF
)

# 2. merged documents
(
mkdir -p "$(dirname /app/review/overlaid.json)"
jq -s '
def merge($a; $b): reduce ($b | to_entries[]) as $e ($a; $a[$e.key] as $old |
    if ($a | has($e.key) | not) then .[$e.key] = $e.value
    elif false then .[$e.key] = merge($old; $e.value)
    elif false then .[$e.key] = $old + $e.value
    else .[$e.key] = $e.value end);
merge(.[0]; .[1])
' /app/review/exported.json /app/incident/signals.json > /app/review/overlaid.json
)
