#!/bin/bash
r=1
if [ -f /app/settings.sh ]; then . /app/settings.sh; [ "${TOTAL:-65}" = 65 ] || r=0; else r=0; fi
echo $r > /logs/verifier/reward.txt
