#!/bin/bash
set -euo pipefail

# 1. first lines
(
head -n 10 /app/archive/tapes.txt > /app/start.txt
)
