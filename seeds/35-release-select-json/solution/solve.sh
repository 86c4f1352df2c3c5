#!/bin/bash
set -euo pipefail

# 1. selected records
(
mkdir -p "$(dirname /app/release/chosen.csv)"
echo build_id,status,tests,size_kb,built > /app/release/chosen.csv
jq -r --arg match scanner '
.[] | select(.tags.component // "" | . == $match) | [.build_id, .tags.status, .counts.tests, .counts.size_kb, .built] | map(. // "") | @csv
' /app/build/packages.json >> /app/release/chosen.csv
)
