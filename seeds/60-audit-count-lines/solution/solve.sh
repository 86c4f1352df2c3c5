#!/bin/bash
set -euo pipefail

# 1. number of lines
(
wc -l < /app/inventory/assets.txt > /app/how-many.txt
)
