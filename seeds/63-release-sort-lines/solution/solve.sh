#!/bin/bash
set -euo pipefail

# 1. sorted lines
(
LC_ALL=C sort /app/build/artifacts.txt > /app/in-order.txt
)
