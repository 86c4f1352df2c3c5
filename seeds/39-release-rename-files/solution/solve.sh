#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/release/sorted-out
cp -a /app/build/parts/. /app/release/sorted-out/
cd /app/release/sorted-out
find . -type f -name '*.md' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.md').text
    name=$(printf '%s' "$name" | tr ' ' '_')
    mv "$path" "$folder/$name"
done
)
