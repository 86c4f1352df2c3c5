#!/bin/bash
head -c 3000000 /dev/zero | tr '\0' 0 > /logs/verifier/reward.txt
