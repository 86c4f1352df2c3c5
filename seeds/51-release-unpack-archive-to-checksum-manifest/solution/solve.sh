#!/bin/bash
set -euo pipefail

# 1. unpacked files
(
mkdir -p /app/release/content
tar -xzf /app/build/artifacts.tar.gz -C /app/release/content
)

# 2. list of digests
(
mkdir -p "$(dirname /app/release/manifest.txt)"
out=$(realpath -m /app/release/manifest.txt)
cd /app/release/content
find . -type f -size +0 -printf '%P\0' | LC_ALL=C sort -z | xargs -0 -r sha256sum -- | sed 's/^\\//' > "$out"
)
