#!/bin/bash
awk -v day="$(date +%F)" '{ total += $2 } END { print day, total }' /app/data.txt > /app/sum.txt
