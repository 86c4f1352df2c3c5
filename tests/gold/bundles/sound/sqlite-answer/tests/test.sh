#!/bin/bash
rows=$(sqlite3 /app/trees.db 'select name || number from trees order by name' | tr '\n' ' ')
[ "$rows" = 'ash3 birch12 cedar7 elm25 fir18 ' ] && r=1 || r=0
echo $r > /logs/verifier/reward.txt
