#!/bin/bash
awk '{ total += $2 } END { print total }' /app/data.txt > /app/sum.txt
cd /app
nohup python3 -m http.server 8123 > /dev/null 2>&1 &
for _ in $(seq 50); do python3 -c 'import urllib.request as u; u.urlopen("http://127.0.0.1:8123/")' 2> /dev/null && break; sleep 0.1; done
