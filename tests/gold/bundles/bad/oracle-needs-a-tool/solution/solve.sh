#!/bin/bash
no-such-tool --sum /app/data.txt > /app/sum.txt
