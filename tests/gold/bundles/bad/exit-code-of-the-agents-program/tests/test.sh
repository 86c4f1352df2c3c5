#!/bin/bash
/app/check.sh && r=1 || r=0
echo $r > /logs/verifier/reward.txt
