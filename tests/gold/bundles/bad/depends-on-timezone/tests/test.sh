#!/bin/bash
[ "$(cat /app/sum.txt)" = 65 ] && [ "$(date -d @86400 +%H)" = 00 ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
