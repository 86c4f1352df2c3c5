#!/bin/bash
set -e
[ "$(cat /app/sum.txt)" = 65 ]
echo 1 > /logs/verifier/reward.txt
