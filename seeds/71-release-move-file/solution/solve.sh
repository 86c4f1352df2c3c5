#!/bin/bash
set -euo pipefail

# 1. a file moved
(
cd /app/build/parts && mv shelf-2.csv client/
)
