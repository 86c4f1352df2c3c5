#!/bin/bash
cmp /app/data.txt /tests/data.txt && r=1 || r=0
echo $r > /logs/verifier/reward.txt
