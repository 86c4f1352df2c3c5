#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/release/renamed
cp -a /app/build/components/. /app/release/renamed/
cd /app/release/renamed
find . -type f -name '*.txt' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.txt').old
    mv "$path" "$folder/$name"
done
)
