#!/bin/bash
r=0
[ -s /app/sum.txt ] && r=0.5
[ "$(cat /app/sum.txt)" = 65 ] && r=1
echo $r > /logs/verifier/reward.txt
