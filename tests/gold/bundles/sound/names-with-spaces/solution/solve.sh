#!/bin/bash
cd '/app/in put' && cat -- * | awk '{ t += $2 } END { print t }' > '/app/the sum.txt'
