#!/bin/bash
set -euo pipefail

# 1. packed archive
(
mkdir -p "$(dirname /app/audit/shipment.tar.gz)"
out=$(realpath -m /app/audit/shipment.tar.gz)
cd /app/inventory/equipment
find . -not -type d -printf '%P\0' | LC_ALL=C sort -z > /tmp/members.$$
tar -czf "$out" -h --transform 'flags=rh;s,^,content/,' --null --no-recursion --verbatim-files-from -T /tmp/members.$$
rm /tmp/members.$$
)
