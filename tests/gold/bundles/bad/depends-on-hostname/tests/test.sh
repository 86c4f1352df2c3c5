#!/bin/bash
[ "$(cat /app/sum.txt)" = 65 ] && [ "$(hostname)" = forge ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
