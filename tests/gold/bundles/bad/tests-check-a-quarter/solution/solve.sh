#!/bin/bash
cd /app
awk '{ t += $2 } END { print t }' data.txt > sum.txt
sort -k2,2n data.txt | tail -n 1 | cut -d' ' -f2 > max.txt
wc -l < data.txt > count.txt
cut -d' ' -f1 data.txt | sort -r > names.txt
