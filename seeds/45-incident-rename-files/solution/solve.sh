#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/review/sorted-out
cp -a /app/incident/pages/. /app/review/sorted-out/
cd /app/review/sorted-out
find . -not -name '.*' -type f -name '*.md' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.md').orig
    mv "$path" "$folder/$name"
done
)
