#!/bin/bash
total /app/data.txt > /app/sum.txt
