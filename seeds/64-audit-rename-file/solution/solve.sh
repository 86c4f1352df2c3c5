#!/bin/bash
set -euo pipefail

# 1. a file renamed
(
cd /app/inventory/equipment && mv sensor-34.md first-47.md
)
