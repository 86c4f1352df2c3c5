#!/bin/bash
set -euo pipefail

# 1. selected records
(
mkdir -p "$(dirname /app/audit/picked.csv)"
echo asset_id,condition,hours,price,checked > /app/audit/picked.csv
jq -r --arg match cardiology '
.[] | select(.tags.ward // "" | . == $match) | [.asset_id, .tags.condition, .counts.hours, .counts.price, .checked] | map(. // "") | @csv
' /app/inventory/loans.json >> /app/audit/picked.csv
)
