#!/bin/bash
cat /app/reached.txt
[ "$(cat /app/sum.txt)" = 65 ] && [ -e /app/reached.txt ] && [ ! -s /app/reached.txt ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
