#!/bin/bash
set -euo pipefail

# 1. packed archive
(
mkdir -p "$(dirname /app/release/packed.tar.gz)"
out=$(realpath -m /app/release/packed.tar.gz)
cd /app/build/components
find . -not -type d -printf '%P\0' | LC_ALL=C sort -z > /tmp/members.$$
tar -czf "$out" --null --no-recursion --verbatim-files-from -T /tmp/members.$$
rm /tmp/members.$$
)
