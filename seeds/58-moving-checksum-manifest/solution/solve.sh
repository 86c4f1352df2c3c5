#!/bin/bash
set -euo pipefail

# 1. list of digests
(
mkdir -p "$(dirname /app/moved/checksums.txt)"
out=$(realpath -m /app/moved/checksums.txt)
cd /app/archive/recordings
find . -type f -not -name '.*' -printf '%P\0' | LC_ALL=C sort -z | xargs -0 -r sha256sum -- | sed 's/^\\//' > "$out"
)
