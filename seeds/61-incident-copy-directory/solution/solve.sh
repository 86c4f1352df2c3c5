#!/bin/bash
set -euo pipefail

# 1. directory copied
(
cp -r /app/incident/pages /app/backup
)
