#!/bin/bash
set -euo pipefail

# 1. a line added
(
printf '%s\n' 'garden 5411' >> /app/archive/tracks.txt
)
