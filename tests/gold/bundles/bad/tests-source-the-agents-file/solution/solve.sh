#!/bin/bash
echo "TOTAL=$(awk '{ t += $2 } END { print t }' /app/data.txt)" > /app/settings.sh
