#!/bin/bash
set -euo pipefail

# 1. unpacked files
(
mkdir -p /app/audit/content
tar -xzf /app/inventory/assets.tar.gz -C /app/audit/content
find /app/audit/content -not -type d -name '*.conf' -delete
)

# 2. files renamed
(
mkdir -p /app/audit/renamed
cp -a /app/audit/content/. /app/audit/renamed/
cd /app/audit/renamed
find . -type f -name '*.csv' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.csv').data
    name=$(printf '%s' "$name" | tr ' ' '_')
    name=$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]')
    mv "$path" "$folder/$name"
done
)

# 3. modes of the files
(
mkdir -p /app/audit/locked
cp -a /app/audit/renamed/. /app/audit/locked/
cd /app/audit/locked
find . -type f -exec chmod 660 {} +
find . -type f -name '*.log' -exec chmod 600 {} +
find . -type f -empty -exec chmod 444 {} +
)

# 4. list of digests
(
mkdir -p "$(dirname /app/audit/digests.txt)"
out=$(realpath -m /app/audit/digests.txt)
cd /app/audit/locked
find -L . -type f -not -name '.*' -printf '%P\0' | LC_ALL=C sort -z | xargs -0 -r sha256sum -- | sed 's/^\\//' > "$out"
)
