#!/bin/sh
# Runs the checks. A reward is written whatever happens: 1 when all pass, else 0.
mkdir -p /logs/verifier
echo 0 > /logs/verifier/reward.txt
reward=0
trap 'echo "$reward" > /logs/verifier/reward.txt' EXIT
python3 -I -S /tests/check.py && reward=1
exit 0
