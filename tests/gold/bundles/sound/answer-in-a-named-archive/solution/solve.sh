#!/bin/bash
zcat /app/backups/old.gz > /app/report.txt
