#!/bin/bash
set -euo pipefail

# 1. modes of the files
(
mkdir -p /app/moved/locked
cp -a /app/archive/recordings/. /app/moved/locked/
cd /app/moved/locked
run=$(mktemp)
find . -type f -perm -u+x -print0 > "$run"
find . -type f -exec chmod 600 {} +
find . -type f -not -name '.*' -name '*.conf' -exec chmod 640 {} +
xargs -0 -r chmod 700 -- < "$run"
rm "$run"
find . -type f -empty -exec chmod 444 {} +
)
