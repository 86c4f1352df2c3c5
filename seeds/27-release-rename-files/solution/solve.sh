#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/release/sorted-out
cp -a /app/build/components/. /app/release/sorted-out/
cd /app/release/sorted-out
find . -type f -name '*.conf' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.conf').text
    mv "$path" "$folder/$name"
done
)
