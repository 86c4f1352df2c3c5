#!/bin/bash
set -euo pipefail

# 1. edited settings
(
mkdir -p "$(dirname /app/audit/adjusted.ini)"
awk -v section='[charger]' -v key=limit -v value=978 -v last_only=1 -v added='owner = 3' '
function name_of(line) { sub(/ *=.*/, "", line); return line ~ /^[#[]/ ? "" : line }
function same(a, b) { return fold ? tolower(a) == tolower(b) : a == b }
/^\[/ { if (NR > FNR && FNR > 1 && inside && added) print added }
/^\[/ { inside = $0 == section; cleared = $0 == old_section }
NR == FNR { if (inside && same(name_of($0), key)) last = FNR; next }
cleared && same(name_of($0), old_key) { next }
inside && same(name_of($0), key) && (!last_only || FNR == last) { print name_of($0) " = " value; next }
{ print }
END { if (inside && added) print added }
' /app/inventory/inventory.ini /app/inventory/inventory.ini > /app/audit/adjusted.ini
)

# 2. settings as JSON
(
mkdir -p "$(dirname /app/audit/options.json)"
python3 - /app/audit/adjusted.ini /app/audit/options.json <<'EOF'
import configparser, json, sys
parser = configparser.ConfigParser(interpolation=None, strict=False)
parser.optionxform = str
parser.read(sys.argv[1], encoding="utf-8")
data = {name: {key: value for key, value in parser[name].items()} for name in parser.sections()}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(data, file, indent=2)
EOF
)
