#!/bin/bash
python3 "$(dirname "$0")/add.py" /app/data.txt > /app/sum.txt
