#!/bin/bash
awk '{ total += $2 } END { print total }' /app/data.txt > /app/sum.txt
