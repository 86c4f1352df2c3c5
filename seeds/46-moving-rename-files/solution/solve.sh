#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/moved/renamed
cp -a /app/archive/recordings/. /app/moved/renamed/
cd /app/moved/renamed
find . -not -name '.*' -type f -name '*.md' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.md').data
    name=$(printf '%s' "$name" | tr ' ' '_')
    name=$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]')
    mv "$path" "$folder/$name"
done
)
