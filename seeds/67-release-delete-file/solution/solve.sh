#!/bin/bash
set -euo pipefail

# 1. a file deleted
(
rm /app/build/packages/scanner-8.csv
)
