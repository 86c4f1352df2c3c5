#!/bin/bash
[ -s /app/data.txt ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
