#!/bin/bash
set -euo pipefail

# 1. unpacked files
(
mkdir -p /app/review/unpacked
tar -xzf /app/incident/pages.tar.gz -C /app/review/unpacked --strip-components=1
find /app/review/unpacked -not -type d -name '.*' -delete
)
