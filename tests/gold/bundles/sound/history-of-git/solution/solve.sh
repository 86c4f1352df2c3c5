#!/bin/bash
cd /app && git checkout -q HEAD~1 -- data.txt
