#!/bin/bash
set -euo pipefail

# 1. files renamed
(
mkdir -p /app/release/sorted-out
cp -a /app/build/modules/. /app/release/sorted-out/
cd /app/release/sorted-out
find . -not -name '.*' -type f -name '*.md' -print0 | while IFS= read -r -d '' path; do
    folder=$(dirname "$path"); name=$(basename "$path" '.md').old
    name=$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]')
    mv "$path" "$folder/$name"
done
)

# 2. modes of the files
(
mkdir -p /app/release/shared
cp -a /app/release/sorted-out/. /app/release/shared/
cd /app/release/shared
find . -type f -exec chmod 640 {} +
find . -type f -name '*.md' -exec chmod 660 {} +
)

# 3. packed archive
(
mkdir -p "$(dirname /app/release/packed.tar.gz)"
out=$(realpath -m /app/release/packed.tar.gz)
cd /app/release/shared
find . -not -name '.*' -not -name '*.old' -not -type d -printf '%P\0' | LC_ALL=C sort -z > /tmp/members.$$
tar -czf "$out" -h --transform 'flags=rh;s,^,content/,' --null --no-recursion --verbatim-files-from -T /tmp/members.$$
rm /tmp/members.$$
)
