#!/bin/bash
[ "$(cat /app/sum.txt)" = 65 ] && exit 0
echo 0 > /logs/verifier/reward.txt
