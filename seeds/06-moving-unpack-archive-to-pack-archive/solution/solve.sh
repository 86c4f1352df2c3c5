#!/bin/bash
set -euo pipefail

# 1. unpacked files
(
mkdir -p /app/moved/unpacked
tar -xzf /app/archive/recordings.tar.gz -C /app/moved/unpacked
find /app/moved/unpacked -not -type d -name '.*' -delete
find /app/moved/unpacked -not -type d -name '*.txt' -delete
)

# 2. packed archive
(
mkdir -p "$(dirname /app/moved/shipment.tar.gz)"
out=$(realpath -m /app/moved/shipment.tar.gz)
cd /app/moved/unpacked
find . -not -name '*.csv' -not -type d -printf '%P\0' | LC_ALL=C sort -z > /tmp/members.$$
tar -czf "$out" --null --no-recursion --verbatim-files-from -T /tmp/members.$$
rm /tmp/members.$$
)
