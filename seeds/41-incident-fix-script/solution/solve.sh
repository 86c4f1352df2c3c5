#!/bin/bash
set -euo pipefail

# 1. repaired script
(
mkdir -p "$(dirname /app/review/working.sh)"
cat > /app/review/working.sh <<'EOF'
#!/bin/bash
# Usage: keep.sh LIMIT FILE
[ -r "$2" ] || exit 2
exec awk -F , -v limit="$1" 'NR == 1 || $5 + 0 >= limit + 0' < "$2"
EOF
)
