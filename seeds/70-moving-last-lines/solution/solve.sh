#!/bin/bash
set -euo pipefail

# 1. last lines
(
tail -n 8 /app/archive/shows.txt > /app/end.txt
)
