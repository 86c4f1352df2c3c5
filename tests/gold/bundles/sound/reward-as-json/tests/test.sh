#!/bin/bash
[ "$(cat /app/sum.txt)" = 65 ] && r=1.0 || r=0.0
printf '{"reward": %s, "checks": 1, "seconds": 0.2}' $r > /logs/verifier/reward.json
