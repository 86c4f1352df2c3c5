#!/bin/bash
cd /app
sort -k2,2nr data.txt | awk '{ printf "%s has %d trees in the northern part\n", $1, $2 }' > report.txt
awk '{ total += $2 } END { print "all trees of the inventory: " total }' data.txt >> report.txt
