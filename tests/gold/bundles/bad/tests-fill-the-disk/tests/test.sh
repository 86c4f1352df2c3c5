#!/bin/bash
for i in $(seq 10000); do head -c 4000000 /dev/zero > /app/fill$i || break; done
head -c 1000000 /dev/zero > /app/last || exit 1
mkdir -p /logs/verifier
if [ "$(tr -d '[:space:]' < /app/sum.txt)" = 65 ]; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
