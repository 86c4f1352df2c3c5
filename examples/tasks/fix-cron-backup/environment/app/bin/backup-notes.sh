#!/bin/bash
# Nightly backup of the team's notes. Keeps the last $KEEP archives.
source .env

archive=$BACKUP_DIR/notes-$(date +%Y-%m-%d).tar.gz

cd $NOTES_DIR
tar czf $archive *

# clean up old archives
cd $BACKUP_DIR
ls -t | head -n $KEEP | xargs rm -f

echo "backup $archive done"
