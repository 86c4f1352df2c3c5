#!/bin/bash
s=0.25
[ "$(cat /app/sum.txt)" = 65 ] && s=1
echo $s > /logs/verifier/reward.txt
