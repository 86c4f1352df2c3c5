#!/bin/bash
# Usage: keep.sh LIMIT FILE
limit=$1
file=$2
[ -r "$file" ] || exit 2
head -n 1 "$file"
tail -n +2 "$file" | while IFS= read -r line || [ -n "$line" ]; do
    number=$(printf '%s\n' "$line" | cut -d , -f 5)
    if [[ "$number" > "$limit" ]]; then
        printf '%s\n' "$line"
    fi
done
