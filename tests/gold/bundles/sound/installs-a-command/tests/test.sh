#!/bin/bash
printf 'a 1\nb 2\n' > /tmp/x
[ "$(total /app/data.txt)" = 65 ] && [ "$(total /tmp/x)" = 3 ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
