#!/bin/bash
awk '{ total += $2 } END { print total }' data.txt > sum.txt
