#!/bin/bash
set -euo pipefail

# 1. settings as JSON
(
mkdir -p "$(dirname /app/release/settings.json)"
python3 - /app/build/artifacts.ini /app/release/settings.json <<'EOF'
import configparser, json, sys
parser = configparser.ConfigParser(interpolation=None, strict=False)
parser.optionxform = str.lower
parser.read(sys.argv[1], encoding="utf-8")
data = {name: {key: value for key, value in parser[name].items()} for name in parser.sections()}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(data, file, indent=2)
EOF
)

# 2. merged documents
(
mkdir -p "$(dirname /app/release/united.json)"
jq -s '
def merge($a; $b): reduce ($b | to_entries[]) as $e ($a; $a[$e.key] as $old |
    if ($a | has($e.key) | not) then .[$e.key] = $e.value
    elif false then .[$e.key] = merge($old; $e.value)
    elif false then .[$e.key] = $old + $e.value
    else .[$e.key] = $e.value end);
merge(.[0]; .[1])
' /app/release/settings.json /app/build/modules.json > /app/release/united.json
)
