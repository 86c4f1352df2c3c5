#!/bin/bash
awk -v c="$COLUMN" '{ total += $c } END { print total }' /app/data.txt > "$TARGET"
