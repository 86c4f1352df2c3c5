#!/bin/bash
cp /tests/test_total.py /app/test_total.py
cd /app && python3 -m pytest -q -p no:cacheprovider test_total.py && r=1 || r=0
echo $r > /logs/verifier/reward.txt
