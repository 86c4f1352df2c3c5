#!/bin/bash
set -euo pipefail

# 1. selected records
(
mkdir -p "$(dirname /app/moved/extract.csv)"
: > /app/moved/extract.csv
jq -r --arg match petrov '
.[] | select(.tags.editor // "" | . == "" or . == $match) | [.tape_id, .tags.medium, .counts.plays, .counts.seconds, .aired] | map(. // "n/a") | @csv
' /app/archive/shows.json >> /app/moved/extract.csv
)
