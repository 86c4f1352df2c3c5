#!/bin/bash
python3 -m pytest -q -p no:cacheprovider /tests/test_sum.py && r=1 || r=0
echo $r > /logs/verifier/reward.txt
