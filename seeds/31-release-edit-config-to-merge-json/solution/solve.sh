#!/bin/bash
set -euo pipefail

# 1. edited settings
(
mkdir -p "$(dirname /app/release/edited.ini)"
awk -v section='[docs]' -v key=workers -v value=945 '
function name_of(line) { sub(/ *=.*/, "", line); return line ~ /^[#[]/ ? "" : line }
function same(a, b) { return fold ? tolower(a) == tolower(b) : a == b }
/^\[/ { if (NR > FNR && FNR > 1 && inside && added) print added }
/^\[/ { inside = $0 == section; cleared = $0 == old_section }
NR == FNR { if (inside && same(name_of($0), key)) last = FNR; next }
cleared && same(name_of($0), old_key) { next }
inside && same(name_of($0), key) && (!last_only || FNR == last) { print name_of($0) " = " value; next }
{ print }
END { if (inside && added) print added }
' /app/build/parts.ini /app/build/parts.ini > /app/release/edited.ini
)

# 2. settings as JSON
(
mkdir -p "$(dirname /app/release/settings.json)"
python3 - /app/release/edited.ini /app/release/settings.json <<'EOF'
import configparser, json, sys
parser = configparser.ConfigParser(interpolation=None, strict=False)
parser.optionxform = str
parser.read(sys.argv[1], encoding="utf-8")
data = {name: {key: value for key, value in parser[name].items()} for name in parser.sections()}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(data, file, indent=2)
EOF
)

# 3. merged documents
(
mkdir -p "$(dirname /app/release/merged.json)"
jq -s '
def merge($a; $b): reduce ($b | to_entries[]) as $e ($a; $a[$e.key] as $old |
    if $e.value == null then del(.[$e.key]) elif ($a | has($e.key) | not) then .[$e.key] = $e.value
    elif false then .[$e.key] = merge($old; $e.value)
    elif false then .[$e.key] = $old + $e.value
    else .[$e.key] = $e.value end);
merge(.[0]; .[1])
' /app/release/settings.json /app/build/modules.json > /app/release/merged.json
)
