#!/bin/bash
[ "$(cat /app/sum.txt)" = 65 ] && python3 -c "import sys; sys.exit(not sys.flags.hash_randomization)" && [ -z "$PYTHONHASHSEED" ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
