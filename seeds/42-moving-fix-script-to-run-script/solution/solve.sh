#!/bin/bash
set -euo pipefail

# 1. repaired script
(
mkdir -p "$(dirname /app/moved/repaired.sh)"
cat > /app/moved/repaired.sh <<'EOF'
#!/bin/bash
# Usage: keep.sh LIMIT FILE
[ -r "$2" ] || exit 2
exec awk -F , -v limit="$1" 'NR == 1 || $6 + 0 >= limit + 0' < "$2"
EOF
)

# 2. output of the script
(
mkdir -p "$(dirname /app/moved/kept.csv)"
bash /app/moved/repaired.sh 317 /app/archive/programmes.csv > /app/moved/kept.csv
)
