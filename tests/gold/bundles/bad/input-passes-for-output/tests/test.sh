#!/bin/bash
grep -q 'elm' /app/report.txt && grep -q 25 /app/report.txt && r=1 || r=0
echo $r > /logs/verifier/reward.txt
