#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/review/sorted-out
cp -a /app/incident/events/. /app/review/sorted-out/
cd /app/review/sorted-out
find . -type f -name '*.txt' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.txt').orig
    name=$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]')
    mv "$path" "$folder/$name"
done
)
