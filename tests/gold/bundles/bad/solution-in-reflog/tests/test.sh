#!/bin/bash
cmp /app/report.txt /tests/expected.txt && r=1 || r=0
echo $r > /logs/verifier/reward.txt
