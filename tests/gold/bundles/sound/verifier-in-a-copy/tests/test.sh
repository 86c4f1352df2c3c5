#!/bin/bash
if [ "$(cat /app/sorted.txt)" = "$(printf '1\n2\n3')" ]; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
