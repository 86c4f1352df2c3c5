#!/bin/bash
if python3 -c 'open("/app/report.txt")' && cmp /app/report.txt /tests/expected.txt; then r=1; else r=0; fi
echo $r > /logs/verifier/reward.txt
