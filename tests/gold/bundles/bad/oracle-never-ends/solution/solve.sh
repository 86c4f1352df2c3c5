#!/bin/bash
echo 65 > /app/sum.txt
sleep 1000
