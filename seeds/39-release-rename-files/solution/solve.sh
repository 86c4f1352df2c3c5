#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/release/clean
cp -a /app/build/components/. /app/release/clean/
cd /app/release/clean
find . -type f -name '*.conf' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.conf').data
    mv "$path" "$folder/$name"
done
)
