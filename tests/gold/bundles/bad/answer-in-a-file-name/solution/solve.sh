#!/bin/bash
awk '{ t += $2 } END { print "all trees of the northern inventory, counted twice: " t }' /app/data.txt > /app/report.txt
