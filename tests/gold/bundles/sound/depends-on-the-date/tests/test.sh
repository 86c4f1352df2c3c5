#!/bin/bash
read -r day sum < /app/sum.txt
[ "$sum" = 65 ] && [ "$day" = "$(date +%F)" ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
