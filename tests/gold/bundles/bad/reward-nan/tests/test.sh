#!/bin/bash
r=nan
[ "$(cat /app/sum.txt)" = 65 ] && r=1
printf "%s\n" "$r" > /logs/verifier/reward.txt
