#!/bin/bash
set -euo pipefail

# 1. two texts joined
(
cat /app/inventory/devices.txt /app/inventory/equipment.txt > /app/joined.txt
)
