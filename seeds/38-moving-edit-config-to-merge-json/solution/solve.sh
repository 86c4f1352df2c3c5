#!/bin/bash
set -euo pipefail

# 1. edited settings
(
mkdir -p "$(dirname /app/moved/edited.ini)"
awk -v section='[garage]' -v key=retries -v value=908 -v last_only=1 -v old_section='[choir]' -v old_key=port '
function name_of(line) { sub(/ *=.*/, "", line); return line ~ /^[#[]/ ? "" : line }
function same(a, b) { return fold ? tolower(a) == tolower(b) : a == b }
/^\[/ { if (NR > FNR && FNR > 1 && inside && added) print added }
/^\[/ { inside = $0 == section; cleared = $0 == old_section }
NR == FNR { if (inside && same(name_of($0), key)) last = FNR; next }
cleared && same(name_of($0), old_key) { next }
inside && same(name_of($0), key) && (!last_only || FNR == last) { print name_of($0) " = " value; next }
{ print }
END { if (inside && added) print added }
' /app/archive/programmes.ini /app/archive/programmes.ini > /app/moved/edited.ini
)

# 2. settings as JSON
(
mkdir -p "$(dirname /app/moved/settings.json)"
python3 - /app/moved/edited.ini /app/moved/settings.json <<'EOF'
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
mkdir -p "$(dirname /app/moved/overlaid.json)"
jq -s '
def merge($a; $b): reduce ($b | to_entries[]) as $e ($a; $a[$e.key] as $old |
    if $e.value == null then del(.[$e.key]) elif ($a | has($e.key) | not) then .[$e.key] = $e.value
    elif ([$old, $e.value] | map(type)) == ["object", "object"] then .[$e.key] = merge($old; $e.value)
    elif false then .[$e.key] = $old + $e.value
    else .[$e.key] = $e.value end);
merge(.[0]; .[1])
' /app/moved/settings.json /app/archive/tapes.json > /app/moved/overlaid.json
)
