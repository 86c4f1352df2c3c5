#!/bin/bash
set -euo pipefail

# 1. list of digests
(
mkdir -p "$(dirname /app/review/manifest.txt)"
out=$(realpath -m /app/review/manifest.txt)
cd /app/incident/events
find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 -r sha256sum -- | sed 's/^\\//' > "$out"
)
