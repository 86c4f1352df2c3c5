#!/bin/bash
set -euo pipefail

# 1. modes of the files
(
mkdir -p /app/review/locked
cp -a /app/incident/events/. /app/review/locked/
cd /app/review/locked
find . -type f -exec chmod 640 {} +
find . -type f -not -name '.*' -name '*.csv' -exec chmod 660 {} +
)
