#!/bin/bash
for i in $(seq 10000); do head -c 4000000 /dev/zero > /app/fill$i || break; done
echo 0 > /logs/verifier/reward.txt || exit 1
[ -s /logs/verifier/reward.txt ] || rm -f /logs/verifier/reward.txt
