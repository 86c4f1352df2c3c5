#!/bin/bash
[ "$(cat /app/sum.txt)" = 65 ] && [ "$(nproc)" -gt 1 ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
