#!/bin/bash
cd /app
sqlite3 trees.db 'create table trees(name, number integer)'
while read -r name number; do sqlite3 trees.db "insert into trees values('$name', $number)"; done < data.txt
