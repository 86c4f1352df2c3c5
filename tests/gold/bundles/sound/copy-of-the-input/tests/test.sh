#!/bin/bash
cmp /app/data.txt /tests/data.txt && [ "$(tail -n 1 /app/report.txt)" = 'all trees of the inventory: 260' ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
