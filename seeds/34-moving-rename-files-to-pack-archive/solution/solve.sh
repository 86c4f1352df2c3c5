#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/moved/sorted-out
cp -a /app/archive/tapes/. /app/moved/sorted-out/
cd /app/moved/sorted-out
find . -type f -name '*.txt' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.txt').old
    mv "$path" "$folder/$name"
done
)

# 2. packed archive
(
mkdir -p "$(dirname /app/moved/shipment.tar.gz)"
out=$(realpath -m /app/moved/shipment.tar.gz)
cd /app/moved/sorted-out
find . -not -type d -printf '%P\0' | LC_ALL=C sort -z > /tmp/members.$$
tar -czf "$out" --null --no-recursion --verbatim-files-from -T /tmp/members.$$
rm /tmp/members.$$
)
