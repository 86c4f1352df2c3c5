#!/bin/bash
set -euo pipefail

# 1. unpacked files
(
mkdir -p /app/moved/unpacked
tar -xzf /app/archive/tracks.tar.gz -C /app/moved/unpacked
)

# 2. packed archive
(
mkdir -p "$(dirname /app/moved/archive.tar.gz)"
out=$(realpath -m /app/moved/archive.tar.gz)
cd /app/moved/unpacked
find . -not -type d -printf '%P\0' | LC_ALL=C sort -z > /tmp/members.$$
tar -czf "$out" -h --null --no-recursion --verbatim-files-from -T /tmp/members.$$
rm /tmp/members.$$
)
