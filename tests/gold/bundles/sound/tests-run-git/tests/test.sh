#!/bin/bash
cd /app
[ -z "$(git status --porcelain)" ] && [ "$(git show HEAD:notes.txt)" = ready ] && git diff --quiet HEAD~1 -- data.txt && r=1 || r=0
echo $r > /logs/verifier/reward.txt
