#!/bin/bash
[ "$(cat /app/sum.txt)" = 65 ] && [ -z "$LANG" ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
