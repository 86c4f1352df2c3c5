#!/bin/bash
set -euo pipefail

# 1. list of digests
(
mkdir -p "$(dirname /app/audit/digests.txt)"
out=$(realpath -m /app/audit/digests.txt)
cd /app/inventory/assets
find . -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 -r sha256sum -- | sed 's/^\\//' > "$out"
)
