#!/bin/bash
# Usage: SCRIPT LIMIT FILE
exec awk -F , -v limit="$1" 'NR == 1 || $5 + 0 >= limit + 0' "$2"
