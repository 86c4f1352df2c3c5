#!/bin/bash
cp /tests/test_total.py /app/test_total.py
cd /app && python3 -m pytest -q -p no:cacheprovider test_total.py > /tmp/out 2>&1
grep -q '^2 passed' /tmp/out && r=1 || r=0
cat /tmp/out
echo $r > /logs/verifier/reward.txt
