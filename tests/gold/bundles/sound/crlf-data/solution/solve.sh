#!/bin/bash
tr -d '\r' < /app/data.txt | awk '{ total += $2 } END { print total }' > /app/sum.txt
