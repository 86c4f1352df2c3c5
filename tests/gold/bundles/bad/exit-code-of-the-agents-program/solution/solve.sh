#!/bin/bash
cat > /app/check.sh <<'EOF'
#!/bin/bash
[ "$(awk '{ t += $2 } END { print t }' /app/data.txt)" = 65 ]
EOF
chmod +x /app/check.sh
