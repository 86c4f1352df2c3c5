#!/bin/bash
[ "$(python3 /app/steps.py)" = 142 ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
