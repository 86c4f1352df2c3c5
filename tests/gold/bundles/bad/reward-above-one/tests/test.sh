#!/bin/bash
r=1.5
[ "$(cat /app/sum.txt)" = 65 ] && r=1
printf "%s\n" "$r" > /logs/verifier/reward.txt
