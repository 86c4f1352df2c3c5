#!/bin/bash
set -euo pipefail

# 1. edited settings
(
mkdir -p "$(dirname /app/moved/edited.ini)"
awk -v section='[garden]' -v key=cache -v value=917 -v last_only=1 '
function name_of(line) { sub(/ *=.*/, "", line); return line ~ /^[#[]/ ? "" : line }
function same(a, b) { return fold ? tolower(a) == tolower(b) : a == b }
/^\[/ { if (NR > FNR && FNR > 1 && inside && added) print added }
/^\[/ { inside = $0 == section; cleared = $0 == old_section }
NR == FNR { if (inside && same(name_of($0), key)) last = FNR; next }
cleared && same(name_of($0), old_key) { next }
inside && same(name_of($0), key) && (!last_only || FNR == last) { print name_of($0) " = " value; next }
{ print }
END { if (inside && added) print added }
' /app/archive/tapes.ini /app/archive/tapes.ini > /app/moved/edited.ini
)
