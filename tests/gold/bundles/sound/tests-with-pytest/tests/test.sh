#!/bin/bash
python3 -m pytest -q -p no:cacheprovider /tests/test_sum.py
[ $? -eq 0 ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
