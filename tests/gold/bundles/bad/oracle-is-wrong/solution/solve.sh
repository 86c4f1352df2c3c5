#!/bin/bash
wc -l < /app/data.txt > /app/sum.txt
