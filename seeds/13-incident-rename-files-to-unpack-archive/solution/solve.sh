#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/review/clean
cp -a /app/incident/signals/. /app/review/clean/
cd /app/review/clean
find . -not -name '.*' -type f -name '*.txt' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.txt').old
    name=$(printf '%s' "$name" | tr ' ' '_')
    mv "$path" "$folder/$name"
done
)

# 2. packed archive
(
mkdir -p "$(dirname /app/review/packed.tar.gz)"
out=$(realpath -m /app/review/packed.tar.gz)
cd /app/review/clean
find . -not -name '*.old' -not -type d -printf '%P\0' | LC_ALL=C sort -z > /tmp/members.$$
tar -czf "$out" --null --no-recursion --verbatim-files-from -T /tmp/members.$$
rm /tmp/members.$$
)

# 3. unpacked files
(
mkdir -p /app/review/extracted
tar -xzf /app/review/packed.tar.gz -C /app/review/extracted
)
