#!/bin/bash
set -euo pipefail

# 1. lines with a word
(
grep -F -e catalog /app/incident/signals.txt > /app/matches.txt
)
