#!/bin/bash
set -euo pipefail

cat > /app/crontab <<'TABLE'
# m h dom mon dow  command
30 2 * * *  /app/bin/backup-notes.sh >> /app/logs/backup-$(date +\%Y\%m).log 2>&1
TABLE

cat > /app/bin/backup-notes.sh <<'SCRIPT'
#!/bin/bash
# Nightly backup of the team's notes. Keeps the last $KEEP archives.
set -euo pipefail
source /app/.env

mkdir -p "$BACKUP_DIR"
archive=$BACKUP_DIR/notes-$(date +%Y-%m-%d).tar.gz
partial=$(mktemp "$BACKUP_DIR/.partial.XXXXXX")
trap 'rm -f "$partial"' EXIT

tar -czf "$partial" -C "$NOTES_DIR" .
mv -f "$partial" "$archive"

# The date in the name sorts by itself; keep the last ones.
find "$BACKUP_DIR" -maxdepth 1 -type f \
    -name 'notes-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].tar.gz' -print0 |
    sort -z | head -z -n "-$KEEP" | xargs -0 -r rm -f --

echo "backup $archive done"
SCRIPT
chmod 755 /app/bin/backup-notes.sh
